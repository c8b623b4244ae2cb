export { CHANNEL_LAWS, type ChannelLaw, type ChannelWorld, lawsFor, type OutsideMood } from "./channel-laws.js";
