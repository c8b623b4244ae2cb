/** Routes under one session; the id is percent-decoded already. */
export interface SessionPath {
  Params: { session: string };
}
