/** Folders with a lock file of their own: `browser/` and `tools/`. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installPackages } from '../../browser/install.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stead-install-'))
  lockVersion('1.0.0')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Writes a package whose only dependency is a folder, so that npm needs no registry. */
function lockVersion(version: string): void {
  const own = { name: 'nothing', version, dependencies: { near: 'file:near' } }
  const packages = { '': own, near: { version: '1.0.0' }, 'node_modules/near': { resolved: 'near', link: true } }
  mkdirSync(join(folder, 'near'), { recursive: true })
  writeFileSync(join(folder, 'near/package.json'), JSON.stringify({ name: 'near', version: '1.0.0' }))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...own, lockfileVersion: 3, packages }))
}

/** Installs the folder. @returns whether npm ran, which empties node_modules */
function hasInstalled(): boolean {
  const mark = join(folder, 'node_modules/mark')
  if (existsSync(join(folder, 'node_modules'))) writeFileSync(mark, '')
  installPackages(folder, '')
  return !existsSync(mark)
}

test('packages are installed when they are missing or their lock file has changed, and only then', () => {
  expect(hasInstalled()).toBe(true)
  expect(existsSync(join(folder, 'node_modules/.installed-from'))).toBe(true)
  expect(hasInstalled()).toBe(false)
  lockVersion('2.0.0')
  expect(hasInstalled()).toBe(true)
  expect(hasInstalled()).toBe(false)
})

test('packages that npm could not install are tried again', () => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'nothing', dependencies: { a: '1.0.0' } }))
  expect(hasInstalled).toThrow('npm ci')
  lockVersion('1.0.0')
  expect(hasInstalled()).toBe(true)
})
