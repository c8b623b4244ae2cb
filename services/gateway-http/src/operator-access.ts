import type { Principal } from "./principal.js";
import { HttpProblem } from "./problem.js";

/** @throws HttpProblem 403 for whoever does not look after this installation */
export function operatorOnly({ role }: Principal): void {
  if (role === "admin" || role === "operator") return;
  throw new HttpProblem(403, "forbidden", "this needs the role admin or operator");
}
