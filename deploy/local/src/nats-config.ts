/** What the configuration of the local server depends on. */
export interface NatsConfigOptions {
  /** JetStream keeps its files in the folder `jetstream` in here. */
  readonly dataFolder: string;
  /** -1 lets the server choose a free one. */
  readonly port: number;
  readonly user: string;
  readonly pass: string;
  /** Every acknowledged write is on the disk, at the price of speed; else only process death is survived for sure. */
  readonly fsync: boolean;
}

/** The configuration file of the local server: loopback only, one user, JetStream on. */
export function natsConfig({ dataFolder, port, user, pass, fsync }: NatsConfigOptions): string {
  return `# Written at every start; changes made here are lost.
server_name: troupe-local
host: 127.0.0.1
port: ${port}
# The server warns above 8 MB; a message of the full 1 MiB that HTTP takes has to fit with its envelope.
max_payload: 8MB
authorization {
  user: ${JSON.stringify(user)}
  password: ${JSON.stringify(pass)}
}
jetstream {
  store_dir: ${JSON.stringify(dataFolder)}
${fsync ? "  sync_interval: always\n" : ""}}
`;
}
