import { describe, expect, it } from "vitest";
import { distributionMirrors, parseOsRelease, suitesToTry } from "../../src/nats-server/newer-suite.js";

describe("parseOsRelease", () => {
  it.each([
    ['ID=debian\nVERSION_CODENAME=bookworm\nID_LIKE=""', { id: "debian", codename: "bookworm" }],
    ['ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME="noble"', { id: "ubuntu", codename: "noble" }],
    [
      'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble',
      { id: "ubuntu", codename: "noble" },
    ],
    ["ID=fedora\nID_LIKE=rhel", undefined],
    ["", undefined],
  ])("reads %j", (text, expected) => {
    expect(parseOsRelease(text)).toEqual(expected);
  });
});

describe("suitesToTry", () => {
  it("begins with the machine's own suite, unless that is known to be too old", () => {
    const debian = { id: "debian", codename: "bookworm" };
    expect(suitesToTry(debian, "may have it")).toEqual(["bookworm", "forky", "sid"]);
    expect(suitesToTry(debian, "too old")).toEqual(["forky", "sid"]);
    expect(suitesToTry({ id: "debian", codename: "forky" }, "may have it")).toEqual(["forky", "sid"]);
  });
});

describe("distributionMirrors", () => {
  const archive = {
    uris: ["http://mirror.test/debian"],
    suites: ["bookworm", "bookworm-updates"],
    components: ["main"],
    signedBy: "/usr/share/keyrings/debian-archive-keyring.gpg",
  };

  it("prefers the distribution's archive to other makers' sources and leaves out what has other suites", () => {
    const docker = { uris: ["https://docker.test"], suites: ["bookworm"], components: ["stable"] };
    const security = {
      ...archive,
      uris: ["http://mirror.test/security"],
      suites: ["bookworm-security"],
    };
    const node = { uris: ["https://node.test"], suites: ["nodistro"], components: ["main"] };
    const disk = { ...archive, uris: ["cdrom:[Debian]/"], suites: ["bookworm"] };
    const found = distributionMirrors([docker, disk, node, security, archive], {
      id: "debian",
      codename: "bookworm",
    });
    expect(found).toEqual([archive, { ...docker, components: ["main"] }]);
  });

  it("looks in universe on Ubuntu, where entries of one line carry one suite each", () => {
    const line = (suite: string) => ({
      uris: ["http://mirror.test/ubuntu"],
      suites: [suite],
      components: ["main"],
    });
    const found = distributionMirrors([line("noble"), line("noble-updates")], {
      id: "ubuntu",
      codename: "noble",
    });
    expect(found).toEqual([{ ...line("noble"), components: ["universe"] }]);
  });
});
