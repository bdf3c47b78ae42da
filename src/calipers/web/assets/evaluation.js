import { judgeButtons, listKeys } from "./common.js";

listKeys();
judgeButtons();
