import { type MailSender, StreamFull } from "@troupe/jetstream";
import type { FullStores } from "@troupe/platform";

/** The sender, telling the operator too when MAIL has no room: whoever sent it can do nothing about that. */
export function tellingFull(mail: MailSender, stores: Pick<FullStores, "refused">): MailSender {
  return {
    ...mail,
    send: async (message) => {
      try {
        return await mail.send(message);
      } catch (cause) {
        if (cause instanceof StreamFull)
          stores.refused(cause.store, `${cause.message}; messages are refused until then`);
        throw cause;
      }
    },
  };
}
