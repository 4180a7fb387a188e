import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installTools } from '../../tools/run.js'

const root = join(import.meta.dirname, '../..')
let top: string
let clone: string

/** Of this machine nothing counts: neither its Git settings nor the repository of these sources. */
const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: clone, env, encoding: 'utf8', stdio: 'pipe' }).trim()
const commit = (message: string) => spawnSync('git', ['commit', '-m', message], { cwd: clone, env, encoding: 'utf8' })
const install = (cwd = clone, variables: Record<string, string> = {}) =>
  spawnSync(process.execPath, [join(cwd, '.githooks/install.mjs')], {
    cwd: '/',
    env: { ...env, ...variables },
    encoding: 'utf8',
  })
const hooksPath = () =>
  spawnSync('git', ['config', 'core.hooksPath'], { cwd: clone, env, encoding: 'utf8' }).stdout.trim()
const copyHooks = (to: string) => cpSync(join(root, '.githooks'), join(to, '.githooks'), { recursive: true })

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'stead-hooks-'))
  clone = join(top, 'clone')
  mkdirSync(clone)
  git('init', '-q', '--template=')
  copyHooks(clone)
  cpSync(join(root, 'biome.json'), join(clone, 'biome.json'))
  mkdirSync(join(clone, 'tools'))
  symlinkSync(join(installTools(), 'node_modules'), join(clone, 'tools/node_modules'))
  writeFileSync(join(clone, '.gitignore'), 'node_modules\n')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

describe('installing the hooks', () => {
  test('sets the path in a clone, and once more in one that has it', () => {
    expect(install().status).toBe(0)
    expect(hooksPath()).toBe('.githooks')
    expect(install().status).toBe(0)
    expect(git('config', '--get-all', 'core.hooksPath')).toBe('.githooks')
  })

  test('works in a worktree', () => {
    git('add', '.')
    git('commit', '-qm', 'Begin')
    const tree = join(top, 'tree')
    git('worktree', 'add', '-q', tree)
    expect(install(tree).status).toBe(0)
    expect(hooksPath()).toBe('.githooks')
  })

  test('leaves a path that is set already, and hooks of the clone itself', () => {
    git('config', 'core.hooksPath', '/elsewhere')
    install()
    expect(hooksPath()).toBe('/elsewhere')
    git('config', '--unset', 'core.hooksPath')
    mkdirSync(join(clone, '.git/hooks'))
    writeFileSync(join(clone, '.git/hooks/pre-push.sample'), '')
    writeFileSync(join(clone, '.git/hooks/pre-push'), '')
    install()
    expect(hooksPath()).toBe('')
    rmSync(join(clone, '.git/hooks/pre-push'))
    install()
    expect(hooksPath()).toBe('.githooks')
  })

  test('leaves the repository around a copy alone', () => {
    const vendored = join(clone, 'vendor/stead')
    copyHooks(vendored)
    expect(install(vendored)).toMatchObject({ status: 0, stderr: '' })
    expect(hooksPath()).toBe('')
  })

  test('is silent without a repository and without Git', () => {
    const bare = join(top, 'bare')
    copyHooks(bare)
    expect(install(bare)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(install(clone, { PATH: '/nowhere' })).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(hooksPath()).toBe('')
  })

  test('configures its own clone, also when a hook of another repository runs it', () => {
    const other = join(top, 'other')
    execFileSync('git', ['init', '-q', '--template=', other], { env })
    install(clone, { GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other })
    expect(hooksPath()).toBe('.githooks')
  })
})

describe('committing', () => {
  beforeEach(() => {
    git('add', '.')
    git('commit', '-qm', 'Begin')
    install()
  })
  const put = (name: string, text: string) => writeFileSync(join(clone, name), text)

  test('takes a good subject, and refuses another with the reason', () => {
    put('a.txt', 'a')
    git('add', '.')
    const refused = commit('Added a.')
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain('Write "Add".')
    expect(commit('Add a').status).toBe(0)
  })

  test('lints what is staged, and nothing else', () => {
    put('good.ts', "export const good = 'good'\n")
    put('a folder with spaces.ts', 'var x = "unformatted";;')
    git('add', 'good.ts')
    expect(commit('Add good').stderr).not.toContain('unformatted')
    git('add', '.')
    const refused = commit('Add another')
    expect(refused.status).not.toBe(0)
    expect(`${refused.stdout}${refused.stderr}`).toContain('a folder with spaces.ts')
    // the working tree is mended, the index is not
    put('a folder with spaces.ts', "export const x = 'formatted'\n")
    expect(commit('Add another').status).not.toBe(0)
    git('add', '.')
    expect(commit('Add another').status).toBe(0)
    // and the other way round
    put('good.ts', 'var y = "unformatted";;')
    put('text.md', 'x')
    git('add', 'text.md')
    expect(commit('Add text').status).toBe(0)
    git('checkout', '-q', 'good.ts')
    git('rm', '-q', 'good.ts')
    expect(commit('Remove good').status).toBe(0)
  })

  test('is not stopped where nothing is installed', () => {
    rmSync(join(clone, 'tools/node_modules'))
    put('bad.ts', 'var x = "unformatted";;')
    git('add', '.')
    const done = commit('Add bad')
    expect(done.status).toBe(0)
    expect(done.stderr).toContain('Run npm run lint')
  })
})
