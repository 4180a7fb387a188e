/** Where this machine gets Debian's packages from. */
export interface DebianMirrors {
  readonly main: string
  /** Not every machine has one. */
  readonly security: string | undefined
}

/** What `mirrorsIn` reads: `apt-get indextargets --no-release-info --format` this. */
export const targetsFormat = '$(REPO_URI) $(RELEASE) $(COMPONENT)'

const suites = 'bullseye|bookworm|trixie|forky|duke|sid|oldoldstable|oldstable|stable|testing|unstable'
const mainSuite = new RegExp(`^(?:${suites})$`)
const securitySuite = new RegExp(`^(?:${suites})(?:-security|/updates)$`)

/**
 * The addresses in the machine's own package configuration; there are no others. A mirror may have any path, and who offers
 * packages for Debian besides names his suites alike: of several the one whose path says `debian` counts.
 * @param targets lines of {@link targetsFormat}
 */
export function mirrorsIn(targets: string): DebianMirrors | undefined {
  const entries = targets
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , component]) => component === 'main')
  const address = (suite: RegExp, path: RegExp) => {
    const all = entries.flatMap(([uri = '', release = '']) => (suite.test(release) ? [uri.replace(/\/+$/, '')] : []))
    return all.find((uri) => path.test(uri)) ?? all[0]
  }
  const main = address(mainSuite, /\/debian$/)
  return main === undefined ? undefined : { main, security: address(securitySuite, /\/debian-security$/) }
}
