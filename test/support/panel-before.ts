/** The panel of the commit before, built beside this one. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '../..')
/** What the panel is built from. */
const SOURCES = ['src/panel', 'src/sdk']

export interface BuiltPanel extends Disposable {
  /** Holds `index.html` and `assets`. */
  readonly folder: string
}

/** @param commit where this checkout knows it */
export async function panelBefore(commit: string): Promise<BuiltPanel> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-panel-before-'))
  const archive = execFileSync('git', ['archive', commit, ...SOURCES], { cwd: root, maxBuffer: 64e6 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const dist = join(folder, 'built')
  mkdirSync(dist)
  const configFile = join(folder, 'src/panel/vite.config.ts')
  await build({ configFile, mode: 'production', build: { outDir: dist, emptyOutDir: true } })
  return { folder: dist, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}
