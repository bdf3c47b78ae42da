import { judgeButtons } from "./common.js";

judgeButtons();
