import { describe, expect, it } from "vitest";
import { parseAptSources, writeAptSource } from "../../src/nats-server/apt-source.js";

describe("parseAptSources of .sources files", () => {
  it("reads every enabled stanza with packages, comments and several values included", () => {
    const text = `# the archive
Types: deb deb-src
# a comment within a stanza
URIs: http://mirror.test/debian https://second.test/debian
suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Enabled: no
Types: deb
URIs: http://off.test
Suites: bookworm
Components: main

Types: deb-src
URIs: http://source-only.test
Suites: bookworm
Components: main
`;
    expect(parseAptSources("debian.sources", text)).toEqual([
      {
        uris: ["http://mirror.test/debian", "https://second.test/debian"],
        suites: ["bookworm", "bookworm-updates"],
        components: ["main", "contrib"],
        signedBy: "/usr/share/keyrings/debian-archive-keyring.gpg",
      },
    ]);
  });

  it("keeps a key that stands in the file itself, through reading and writing", () => {
    const text = `Types: deb
URIs: http://mirror.test/debian
Suites: sid
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
`;
    const [source] = parseAptSources("own.sources", text);
    expect(source?.signedBy?.split("\n")).toHaveLength(5);
    expect(writeAptSource(source ?? fail())).toContain(
      "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n",
    );
  });

  it("reads files with Windows line ends and without a last one", () => {
    const text = "Types: deb\r\nURIs: http://a.test\r\nSuites: noble\r\nComponents: main universe";
    expect(parseAptSources("a.sources", text)).toEqual([
      { uris: ["http://a.test"], suites: ["noble"], components: ["main", "universe"] },
    ]);
  });
});

describe("parseAptSources of .list files", () => {
  it("reads entries with and without options, and nothing else", () => {
    const text = `
deb http://mirror.test/ubuntu noble main universe # the archive
deb [arch=amd64,arm64 Signed-By=/etc/keys/one.gpg,/etc/keys/two.gpg trusted=yes] https://other.test noble-updates main
#deb http://commented.test noble main
deb-src http://mirror.test/ubuntu noble main
deb [ signed-by=/k.gpg ] http://flat.test ./
nonsense
`;
    expect(parseAptSources("/etc/apt/sources.list", text)).toEqual([
      { uris: ["http://mirror.test/ubuntu"], suites: ["noble"], components: ["main", "universe"] },
      {
        uris: ["https://other.test"],
        suites: ["noble-updates"],
        components: ["main"],
        signedBy: "/etc/keys/one.gpg /etc/keys/two.gpg",
        trusted: "yes",
      },
      { uris: ["http://flat.test"], suites: ["./"], components: [], signedBy: "/k.gpg" },
    ]);
  });
});

describe("writeAptSource", () => {
  it("writes what the parser reads back", () => {
    const source = {
      uris: ["http://mirror.test/debian"],
      suites: ["forky"],
      components: ["main"],
      signedBy: "/k.gpg",
    };
    expect(parseAptSources("x.sources", writeAptSource(source))).toEqual([source]);
  });
});

function fail(): never {
  throw new Error("no source was read");
}
