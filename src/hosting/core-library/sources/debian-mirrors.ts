/** The mirrors from which this machine gets Debian's packages. */
export interface DebianMirrors {
  readonly main: string
  /** Undefined on machines without one. */
  readonly security: string | undefined
}

/** The format that `mirrorsIn` reads: pass it to `apt-get indextargets --no-release-info --format`. */
export const targetsFormat = '$(REPO_URI) $(RELEASE) $(COMPONENT)'

const suites = 'bullseye|bookworm|trixie|forky|duke|sid|oldoldstable|oldstable|stable|testing|unstable'
const mainSuite = new RegExp(`^(?:${suites})$`)
const securitySuite = new RegExp(`^(?:${suites})(?:-security|/updates)$`)

/**
 * Returns the addresses in the machine's own package configuration, and uses no others. A mirror may have any path, and
 * vendors of packages for Debian use the same suite names. Of several addresses, the one whose path contains `debian`
 * counts.
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
