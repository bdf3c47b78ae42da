import { listKeys } from "./common.js";

listKeys();
