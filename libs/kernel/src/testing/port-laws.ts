import { MAIL_LAWS } from "./port-laws-mail.js";
import { OWNER_LAWS } from "./port-laws-owner.js";
import { PUBLISH_LAWS } from "./port-laws-publish.js";
import { SCHEDULE_LAWS } from "./port-laws-schedule.js";
import { STATE_LAWS } from "./port-laws-state.js";
import type { PortLaw } from "./port-laws-world.js";

/** All laws of the ports; each throws a plain error when it is broken. */
export const PORT_LAWS: readonly PortLaw[] = [
  ...STATE_LAWS,
  ...MAIL_LAWS,
  ...PUBLISH_LAWS,
  ...SCHEDULE_LAWS,
  ...OWNER_LAWS,
];
