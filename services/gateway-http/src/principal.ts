/** Who asks. Roles that may write into sessions of channels other than `http`: admin and operator. */
export interface Principal {
  readonly id: string;
  readonly role: "admin" | "operator" | "user";
}

/** Whoever holds this installation's token. */
export const OWNER: Principal = { id: "owner", role: "admin" };

declare module "fastify" {
  interface FastifyRequest {
    /** Set before any route that is not public runs. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean;
  }
}
