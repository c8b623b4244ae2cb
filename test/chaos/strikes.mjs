// Carries out the blows of the schedule. One target suffers one blow at a time; different ones may be down together.
import { setTimeout as delay } from "node:timers/promises";

const DRAIN_LIMIT_MS = 12_000;
const START_TRIES = 8;
/** So long a send is held up at most until its sender is struck. */
const HOLD_LIMIT_MS = 1_000;

export class Strikes {
  counts = { kills: 0, pauses: 0, "of these, of channels' processes": 0, restarts: 0, "drains too long": 0 };
  #troupe;
  #journal;
  #downtime;
  #blows;
  #ports;
  #queues = new Map();
  #failures = [];
  /** Due blows that wait for their moment. */
  #armed = [];
  /** Which orchestrator a process id in a lease means. */
  #owners = new Map();
  /** The process id of each service that has one in leases, of its latest start. */
  #processes = new Map();

  constructor({ troupe, journal, downtime, blows, ports }) {
    this.#troupe = troupe;
    this.#downtime = downtime;
    this.#journal = journal;
    this.#blows = [...blows];
    this.#ports = ports;
  }

  /** Learns who the orchestrators are, as leases name them. */
  async meet() {
    for (const [which, service] of this.#troupe.orchestrators.entries()) await this.#learn(which, service);
  }

  /** Tells how many turns are over; what is due falls now or waits for its moment. */
  onTurns(count) {
    while (this.#blows.length > 0 && this.#blows[0].at <= count) {
      const blow = this.#blows.shift();
      if (blow.moment === "any") this.#fall(blow);
      else this.#armed.push(blow);
    }
  }

  /** Tells of a revision that has just been stored: its author is struck if a blow waits for that. */
  onRevision({ outstanding, lease }, before) {
    if (this.#armed.length === 0) return;
    const listed = outstanding.filter(({ id }) => !before?.outstanding.some((earlier) => earlier.id === id));
    const isReply = listed.some(({ subject }) => subject?.startsWith("outbox."));
    const isTool = listed.some(({ kind, body }) => kind === "run" && body.kind === "tool");
    const place = this.#armed.findIndex(
      ({ moment }) => (moment === "reply" && isReply) || (moment === "tool" && isTool),
    );
    if (place < 0) return;
    const [blow] = this.#armed.splice(place, 1);
    const owner = (lease ?? before?.lease)?.owner.split("-")[0];
    this.#fall({ ...blow, which: this.#owners.get(owner) ?? blow.which });
  }

  /** Tells that a messenger has a send of this process; resolves when the process is struck, if a blow waits for that. */
  async onSend(when, pid) {
    const place = this.#armed.findIndex(({ target, moment }) => target === "channel" && moment === when);
    const which = this.#troupe.channels.findIndex((service) => service.pid === pid);
    if (place < 0 || which < 0) return;
    const [blow] = this.#armed.splice(place, 1);
    const struck = new Promise((resolve) => this.#fall({ ...blow, which, onStruck: resolve }));
    await Promise.race([struck, delay(HOLD_LIMIT_MS)]);
  }

  #fall(blow) {
    const target = `${blow.target}-${blow.which}`;
    const earlier = this.#queues.get(target) ?? Promise.resolve();
    const strike = async () => {
      try {
        await earlier;
        await this.#strike(target, blow);
      } catch (error) {
        this.#failures.push(`${target}: ${error.message}`);
      }
    };
    this.#queues.set(target, strike());
  }

  async #learn(which, service) {
    const id = await service.field("orchestrator ready", "processId");
    this.#owners.set(String(id), which);
    this.#processes.set(`orchestrator-${which}`, String(id));
  }

  /** When all that fell is over and everything runs again; what could not be brought back. */
  async calm() {
    this.#blows = [];
    this.#armed = [];
    await Promise.all(this.#queues.values());
    return this.#failures;
  }

  async #strike(target, { how, ms, moment, onStruck, ...blow }) {
    this.#journal.blow(`== ${target}: ${how}, ${ms} ms${moment === "any" ? "" : `, moment: ${moment}`}`);
    const victim = blow.target === "nats" ? this.#nats() : this.#service(target, blow);
    const [from, process] = [this.#journal.ageMs, this.#processes.get(target)];
    const end = this.#downtime.begin({ target, from, how, process, pid: victim.pid });
    if (blow.target === "channel") this.counts["of these, of channels' processes"] += 1;
    if (how === "pause") {
      this.counts.pauses += 1;
      await victim.signal("SIGSTOP");
      onStruck?.();
      await delay(ms);
      await victim.signal("SIGCONT");
    } else {
      this.counts.kills += 1;
      const ended = victim.end(how);
      onStruck?.();
      await ended;
      await delay(ms);
      await victim.start();
      this.counts.restarts += 1;
    }
    end(this.#journal.ageMs);
    this.#journal.blow(`== ${target}: runs again`);
  }

  #nats() {
    const { nats } = this.#troupe;
    return {
      pid: nats.pid,
      signal: (signal) => nats.kill(signal),
      end: (how) => nats.kill(how),
      start: () => nats.restart(),
    };
  }

  #service(target, { target: kind, which }) {
    const service = this.#troupe[`${kind}s`][which];
    return {
      pid: service.pid,
      signal: (signal) => service.kill(signal),
      end: async (how) => {
        const killer = setTimeout(() => {
          this.counts["drains too long"] += 1;
          void service.kill("SIGKILL");
        }, DRAIN_LIMIT_MS);
        await service.kill(how);
        clearTimeout(killer);
      },
      start: async () => {
        await this.#startAgain(target, service);
        if (kind === "orchestrator") await this.#learn(which, service);
      },
    };
  }

  /** A start may fail for as long as the NATS server is down: whoever watches over a service starts it again then. */
  async #startAgain(target, service) {
    for (let tries = 1; ; tries++) {
      try {
        await service.start(this.#ports.has(service) ? { TROUPE_HTTP_PORT: this.#ports.get(service) } : {});
        return;
      } catch (error) {
        this.#journal.blow(`== ${target}: did not start: ${error.message.split("\n").at(-1)}`);
        if (tries === START_TRIES) throw error;
        // One that took too long has been killed, and may not be gone yet.
        await service.ended;
      }
    }
  }
}
