/** The tiers of the tests: what runs in each, and what it needs of the machine. */
import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findModules } from '../../src/hosting/page-measure/measure-page.ts'

export interface Tier {
  readonly name: string
  /** What it tests, for the list of tiers. */
  readonly proves: string
  /** Vitest's projects. */
  readonly projects: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly needs: readonly Need[]
  /** Whether its tests start the complete program repeatedly. */
  readonly startsProgram?: boolean
}

/** A requirement of some tests of a tier, which are skipped without it. */
export interface Need {
  readonly what: string
  isHere(): boolean
  /** How to install it on Debian. */
  readonly how: string
}

const hasProgram = (name: string) =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => existsSync(join(folder, name)))
const program = (name: string, from: string): Need => ({
  what: name,
  isHere: () => hasProgram(name),
  how: `apt-get install ${from}`,
})
export const postgres: Need = {
  what: 'PostgreSQL',
  isHere: () => Boolean(process.env.TEST_POSTGRES_URL) || globSync('/usr/lib/postgresql/*/bin/initdb').length > 0,
  how: 'apt-get install postgresql',
}
const root: Need = { what: 'root', isHere: () => process.getuid?.() === 0, how: 'run as root' }
const phpFpm: Need = {
  what: 'php-fpm',
  isHere: () => globSync('/usr/sbin/php-fpm*').length > 0,
  how: 'apt-get install php8.2-fpm php8.2-mysql',
}
const proxies: Need = {
  what: 'nginx and haproxy',
  isHere: () => (hasProgram('nginx') && hasProgram('haproxy')) || Boolean(process.env.TEST_PROXIES),
  how: 'unpack the packages nginx and haproxy, and name the folder with TEST_PROXIES',
}
const lighthouse: Need = {
  what: 'Lighthouse',
  isHere: () => findModules() !== undefined,
  how: 'npm run browser',
}
const mariaDb = program('mariadbd', 'mariadb-server-core')

export const tiers: readonly Tier[] = [
  {
    name: 'quick',
    proves: 'rules, on SQLite: all unit tests, a part of the contract walks, and one real site',
    projects: ['unit*', 'first-site'],
    env: { TEST_TIER: 'quick', TEST_DATABASE: 'sqlite' },
    needs: [program('promtool', 'prometheus')],
  },
  {
    name: 'databases',
    proves: 'the same rules on PostgreSQL',
    projects: ['unit*'],
    env: { TEST_TIER: 'databases', TEST_DATABASE: 'postgres' },
    needs: [postgres],
  },
  {
    name: 'wordpress',
    proves: 'real WordPress, on WebAssembly and on native PHP with MariaDB',
    projects: ['wordpress'],
    env: { TEST_TIER: 'wordpress' },
    needs: [root, phpFpm, mariaDb, program('bwrap', 'bubblewrap'), program('pebble', 'pebble'), lighthouse],
  },
  {
    name: 'system',
    proves:
      'the whole program: browsers, clients of others, kills, full disks, all background work cut off in each step',
    projects: ['long', 'system', 'alone'],
    env: { TEST_TIER: 'system' },
    startsProgram: true,
    needs: [
      root,
      postgres,
      phpFpm,
      mariaDb,
      program('chromium', 'chromium'),
      lighthouse,
      program('dig', 'bind9-dnsutils'),
      program('knotd', 'knot'),
      program('zonemaster-cli', 'zonemaster-cli'),
      program('certutil', 'libnss3-tools'),
      program('faketime', 'faketime'),
      program('rclone', 'rclone'),
      program('nft', 'nftables'),
      program('ip', 'iproute2'),
      proxies,
    ],
  },
]

export const tierOf = (name: string): Tier => {
  const found = tiers.find((tier) => tier.name === name)
  if (!found)
    throw new Error(`There is no tier "${name}". There are: ${tiers.map((tier) => tier.name).join(', ')}, all.`)
  return found
}
