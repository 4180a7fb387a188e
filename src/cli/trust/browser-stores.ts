import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Machine, type Root, TrustFault, type TrustPlace } from './machine.ts'
import { inFile } from './system-store.ts'

/** Databases of Chromium-based browsers, and folders with profiles of Firefox, below a user's `$HOME`. */
const places: Partial<Record<NodeJS.Platform, { databases: readonly string[]; profiles: readonly string[] }>> = {
  linux: {
    databases: ['.pki/nssdb', '.local/share/pki/nssdb', 'snap/chromium/current/.pki/nssdb'],
    profiles: [
      '.mozilla/firefox',
      '.config/mozilla/firefox',
      'snap/firefox/common/.mozilla/firefox',
      '.var/app/org.mozilla.firefox/.mozilla/firefox',
    ],
  },
  darwin: { databases: [], profiles: ['Library/Application Support/Firefox/Profiles'] },
}

/** The NSS flags for trust in server certificates only. */
const TRUST = 'C,,'

/** Returns the stores of browsers that use their own (NSS), for each that the user has. */
export async function browserStores(machine: Machine): Promise<TrustPlace[]> {
  const { databases = [], profiles = [] } = places[machine.platform] ?? {}
  const below = (path: string) => join(machine.home, path)
  const inProfiles = await Promise.all(
    profiles.map(async (path) => {
      const names = await readdir(below(path)).catch(() => [])
      return names.sort().map((name) => join(below(path), name))
    }),
  )
  return [...databases.map(below), ...inProfiles.flat()]
    .filter((folder) => existsSync(join(folder, 'cert9.db')))
    .map((folder) => store(machine, folder))
}

function store({ platform, run }: Machine, folder: string): TrustPlace {
  const certutil = async (...args: string[]) => {
    const ran = await run('certutil', ['-d', `sql:${folder}`, ...args])
    if (ran.isMissing) throw new TrustFault(`certutil is missing: ${howToInstall(platform)}`)
    return ran
  }
  const change = async (...args: string[]) => {
    const { code, error } = await certutil(...args)
    if (code !== 0) throw new TrustFault(`certutil failed: ${error}`)
  }
  return {
    where: folder,
    async holds({ certificate, name }) {
      const { code, out } = await certutil('-L', '-n', name, '-a')
      if (code !== 0 || bare(out) !== bare(certificate)) return 'nothing'
      // Checks whether this database accepts it as an authority for servers.
      return (await certutil('-V', '-u', 'L', '-n', name)).code === 0 ? 'all' : 'part'
    },
    add: (root: Root) => inFile(root, (file) => change('-A', '-n', root.name, '-t', TRUST, '-a', '-i', file)),
    remove: ({ name }) => change('-D', '-n', name),
  }
}

const bare = (pem: string): string => pem.replaceAll(/\s/g, '')

const howToInstall = (platform: NodeJS.Platform): string =>
  platform === 'darwin'
    ? 'brew install nss'
    : 'sudo apt-get install libnss3-tools (Debian, Ubuntu), sudo dnf install nss-tools (Fedora)'
