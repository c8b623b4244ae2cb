// What the server holds of a conversation beside its state, by the names of what is stored: read past the services and
// their adapter, which may be wrong about it.
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

export class Leftovers {
  #options;
  #connection;

  static async open({ nats: { url, user, pass } }) {
    // A server that is just coming up may refuse a login or be late with it: that is no reason to stay away.
    const options = { servers: url, user, pass, name: "chaos", maxReconnectAttempts: -1, ignoreAuthErrorAbort: true };
    return new Leftovers(options, await connect(options));
  }

  constructor(options, connection) {
    this.#options = options;
    this.#connection = connection;
  }

  /** @returns {Promise<{ inbound: string[], segments: string[], blobs: string[], deliveries: string[] }>} without the key */
  async of(key) {
    if (this.#connection.isClosed()) this.#connection = await connect(this.#options);
    const [inbound, segments, deliveries, blobs] = await Promise.all([
      this.#names("KV_inbound", `$KV.inbound.${key}.`),
      this.#names("KV_segments", `$KV.segments.${key}.`),
      this.#names("KV_deliveries", `$KV.deliveries.${key}.`),
      this.#names("OBJ_blobs", `$O.blobs.C.${key}.`),
    ]);
    return { inbound, segments, deliveries, blobs };
  }

  async #names(stream, prefix) {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false });
    const { state } = await manager.streams.info(stream, { subjects_filter: `${prefix}>` });
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
  }

  async close() {
    await this.#connection.close();
  }
}
