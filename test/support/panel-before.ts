/** Builds the panel of the commit before, beside the current one. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '../..')
/** Sources of the panel. */
const SOURCES = ['src/panel', 'src/sdk', 'src/colors.ts']

export interface BuiltPanel extends Disposable {
  /** Contains `index.html` and `assets`. */
  readonly folder: string
}

/** @param commit must be known in this checkout */
export async function panelBefore(commit: string): Promise<BuiltPanel> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-panel-before-'))
  // An older commit may lack one.
  const listed = execFileSync('git', ['ls-tree', '--name-only', commit, ...SOURCES], { cwd: root, encoding: 'utf8' })
  const archive = execFileSync('git', ['archive', commit, ...listed.trim().split('\n')], { cwd: root, maxBuffer: 64e6 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const dist = join(folder, 'built')
  mkdirSync(dist)
  const configFile = join(folder, 'src/panel/vite.config.ts')
  await build({ configFile, mode: 'production', build: { outDir: dist, emptyOutDir: true } })
  return { folder: dist, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}
