import type { FastifyInstance } from "fastify";
import { HttpProblem } from "./problem.js";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Adds the routes, and to each of their paths a 405 with `Allow` for every other method. */
export function addRoutes(app: FastifyInstance, add: () => void): void {
  const served = new Map<string, Set<string>>();
  let adding = true;
  app.addHook("onRoute", ({ url, method }) => {
    if (!adding) return;
    const methods = served.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    served.set(url, methods);
  });
  add();
  adding = false;
  for (const [url, methods] of served) {
    const allow = [...methods].join(", ");
    app.route({
      url,
      method: METHODS.filter((method) => !methods.has(method)),
      exposeHeadRoute: false,
      handler: () => {
        const detail = `only ${allow} can be used here`;
        throw new HttpProblem(405, "method_not_allowed", detail, { headers: { allow } });
      },
    });
  }
}
