/**
 * The introduction: product text from templates, by channel and language, with the agent's name.
 * Templates are keyed `<channel>.<language>`, `<channel>`, `<language>` or `default`, and the most
 * specific one is taken; `{agent}` stands for the name.
 */
export interface IntroductionSettings {
  readonly enabled: boolean;
  readonly templates: Readonly<Record<string, string>>;
}

const BUILT_IN = "Hello, I am {agent}.";

export function introductionOf(
  settings: IntroductionSettings,
  agent: { readonly name: string; readonly language: string },
  channel: string,
): string | null {
  if (!settings.enabled) return null;
  const names = [`${channel}.${agent.language}`, channel, agent.language, "default"];
  const template = names.map((name) => settings.templates[name]).find((text) => text !== undefined) ?? BUILT_IN;
  const text = template.replaceAll("{agent}", agent.name).trim();
  return text === "" ? null : text;
}
