import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionScript } from './completion.ts'

const run = promisify(execFile)
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-completion-'))
  for (const shell of ['bash', 'zsh', 'fish'] as const) await writeFile(join(folder, shell), completionScript(shell))
  await writeFile(join(folder, 'a file'), '')
})
afterAll(() => rm(folder, { recursive: true }))

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!has('bash'))('bash', () => {
  /** Returns bash's suggestions for the last of these words, which are split as readline splits a line. */
  const offered = async (...words: string[]): Promise<string[]> => {
    const call = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stead; for e in "\${COMPREPLY[@]}"; do echo "$e"; done`
    const { stdout } = await run('bash', ['--norc', '-c', call, join(folder, 'bash'), ...words], { cwd: folder })
    return stdout.split('\n').filter(Boolean)
  }

  test('is registered for the command', async () => {
    const { stdout } = await run('bash', ['--norc', '-c', 'source "$0"; complete -p stead', join(folder, 'bash')])
    expect(stdout).toBe('complete -F _stead stead\n')
  })

  test.each([
    [['stead', 'acc'], ['account']],
    [
      ['stead', 'host', ''],
      ['list', 'adopt', 'cordon', 'uncordon', 'lost', 'return', 'remove', 'token', 'revoke', 'ca'],
    ],
    [
      ['stead', 'account', ''],
      ['create', 'list', 'update', 'link', 'set-plan'],
    ],
    [['stead', '--data-dir', '=', '/tmp', 'account', 'c'], ['create']],
    [['stead', '--edge-listen', '=', '127.0.0.1', ':', '80', 'account', 'c'], ['create']],
    [['stead', 'account', 'create', '--email', '=', 'a', '@', 'b.example', '--pl'], ['--plan=']],
    [
      ['stead', 'account', 'create', '--plan', '='],
      ['Personal', 'Business', 'High\\ Traffic'],
    ],
    [['stead', 'account', 'create', '--plan', '=', 'Hi'], ['High\\ Traffic']],
    [
      ['stead', 'account', 'update', '--preview', ''],
      ['yes', 'no'],
    ],
    [['stead', 'account', 'list', '--em'], []],
    [
      ['stead', 'account', 'list', '--data'],
      ['--database-url=', '--data-dir='],
    ],
    [['stead', 'account', 'create', '--email', ''], []],
    [['stead', '--data-dir', '=', 'a'], ['a file']],
    [['stead', 'version', '--edge'], []],
    [
      ['stead', 'help', 'se'],
      ['search', 'serve', 'sessions', 'setup', 'settings'],
    ],
    [['stead', 'help', 'account', 's'], ['set-plan']],
    [['stead', 'nonsense', ''], []],
    [['stead', 'coll'], ['collaborators']],
    [['stead', 'oper'], ['operations']],
    [
      ['stead', 'sites', 'c'],
      ['create', 'convert', 'clone'],
    ],
    [['stead', 'sites', 'create', 'my-site', '--php'], ['--php-version=']],
    [
      ['stead', 'sites', 'create', '--php-version', '=', '8.'],
      ['8.1', '8.2', '8.3'],
    ],
    [['stead', 'sites', 'delete', 'my-site', '--y'], ['--yes']],
    [
      ['stead', 'help', 'operations', ''],
      ['list', 'get', 'watch', 'cancel', 'retry', 'pause', 'continue'],
    ],
    [['stead', 'profiles', 'u'], ['use']],
  ])('%j', async (words, expected) => {
    expect((await offered(...words)).sort()).toEqual([...expected].sort())
  })

  test('offers all settings for a role, and its own settings for a command', async () => {
    expect(await offered('stead', 'edge', '--edge-l')).toEqual(['--edge-listen='])
    expect(await offered('stead', 'account', 'list', '--edge-l')).toEqual([])
  })
})

describe.skipIf(!has('fish'))('fish', () => {
  const offered = async (line: string): Promise<string[]> => {
    const call = 'source $argv[1]; complete -C $argv[2]'
    const { stdout } = await run('fish', ['--no-config', '-c', call, join(folder, 'fish'), line], { cwd: folder })
    return stdout.split('\n').flatMap((row) => (row ? [row.split('\t')[0] as string] : []))
  }

  test.each([
    ['stead acc', ['account']],
    ['stead host ', ['list', 'adopt', 'cordon', 'uncordon', 'lost', 'return', 'remove', 'token', 'revoke', 'ca']],
    ['stead --data-dir=/tmp account c', ['create']],
    ['stead account create --pl', ['--plan']],
    ['stead account create --plan ', ['Personal', 'Business', 'High Traffic']],
    ['stead account list --em', []],
    ['stead help account s', ['set-plan']],
    ['stead sites cl', ['clone']],
    ['stead sites create my-site --php', ['--php-version']],
    ['stead sites create my-site --php-version ', ['8.1', '8.2', '8.3']],
  ])('%s', async (line, expected) => {
    expect((await offered(line)).sort()).toEqual([...expected].sort())
  })
})

describe.skipIf(!has('zsh'))('zsh', () => {
  test('has a script that zsh can read, and that registers itself', async () => {
    const call = 'autoload -U compinit; compinit -D; source "$0"; echo $_comps[stead]'
    expect((await run('zsh', ['-f', '-c', call, join(folder, 'zsh')])).stdout).toBe('_stead\n')
  })
})
