import { describe, expect, test } from 'vitest'
import { takesValue } from './command.ts'
import { commands } from './commands.ts'
import { parseArguments } from './parse-arguments.ts'
import { UsageError } from './usage-error.ts'

const parse = (line: string) => {
  const { command, ...rest } = parseArguments(line.split(' ').filter(Boolean))
  return { command: command.name, ...rest }
}

test('separates command, flags and settings, in any order', () => {
  expect(parse('--log-level=warn application create --account a@b.example --owner --name=ci --json')).toEqual({
    command: 'application create',
    words: [],
    flags: { account: 'a@b.example', owner: true, name: 'ci', json: true },
    settings: { '--log-level': 'warn' },
  })
})

test("prefers a command's own flag to a setting of the same name", () => {
  const moving = parseArguments(['site', 'move', '--name=shop', '--runtime', 'native'])
  expect([moving.flags.runtime, moving.settings]).toEqual(['native', {}])
  expect(parseArguments(['serve', '--runtime=native']).settings).toEqual({ '--runtime': 'native' })
})

test('includes flags that were not given', () => {
  expect(parse('application create --account=a@b.example --name=ci').flags).toMatchObject({ owner: false, json: false })
  expect(parse('host adopt').flags).toEqual({ host: undefined, json: false })
})

test('accepts a value with an equals sign, and one that begins with a dash', () => {
  expect(parse('serve --master-key=YWJj= --rate-limit -1').settings).toEqual({
    '--master-key': 'YWJj=',
    '--rate-limit': '-1',
  })
})

test('accepts a noun that is also a command', () => {
  expect([parse('host').command, parse('host list').command]).toEqual(['host', 'host list'])
})

describe('help', () => {
  test.each([
    ['', []],
    ['-h', []],
    ['--help', []],
    ['help account', ['account']],
    ['account --help', ['account']],
    ['account create -h', ['account', 'create']],
    ['nonsense --help', ['nonsense']],
  ])('%j', (line, words) => {
    expect(parse(line)).toMatchObject({ command: 'help', words })
  })
})

test.each(['version', '--version', '-v', 'serve -v'])('%s: prints the version', (line) => {
  expect(parse(line).command).toBe('version')
})

const messageOf = (line: string): string => {
  try {
    parse(line)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).message
  }
  throw new Error(`${line} was taken`)
}

describe('refused with advice', () => {
  test.each([
    ['serv', 'Unknown command "serv". See: stead help'],
    ['constructor', 'Unknown command "constructor"'],
    ['account', 'requires one of: create, list, update, link, set-plan'],
    ['account constructor', 'requires one of: create, list, update, link, set-plan'],
    ['account drop', 'See: stead help account'],
    ['host none', '"stead host" requires one of: list, adopt'],
    ['serve --fast', 'Unknown flag --fast'],
    ['serve --constructor', 'Unknown flag --constructor'],
    ['serve -x', 'Unknown flag -x'],
    ['account list --email=a@b.example', 'Unknown flag --email for "stead account list"'],
    ['serve --log-level', '--log-level requires a value'],
    ['account create --email --json', '--email requires a value'],
    ['config --json=yes', '--json does not accept a value'],
    ['account list all', '"stead account list" does not accept all'],
    ['account create', '--email is required. See: stead help account create'],
    ['account create --email=', '--email is required'],
    ['account create --email=a@b.example --plan=None', '--plan must be one of: Personal, Business, High Traffic'],
    ['account update --email=a@b.example --preview=maybe', '--preview must be one of: yes, no'],
  ])('%s', (line, reason) => {
    expect(messageOf(line)).toContain(reason)
  })
})

describe('suggestions', () => {
  test.each([
    ['serv', 'stead serve'],
    ['acount list', 'stead account'],
    ['account creat', 'stead account create'],
    ['account create --emial=a@b.example', '--email'],
    ['account list --emial=a@b.example', undefined],
    ['serve --edge-lisen=x', '--edge-listen'],
    ['serve -json', '--json'],
    ['application create --owners=x', '--owner'],
    ['account update --owner', undefined],
    ['account create --email=a@b.example --plan=personal', 'Personal'],
    ['nonsense', undefined],
    ['account nonsense', undefined],
  ])('%s: %s', (line, meant) => {
    const message = messageOf(line)
    if (meant) expect(message).toContain(`\nDid you mean ${meant}?`)
    else expect(message).not.toContain('Did you mean')
  })
})

test('gives a flag the same kind of value in every command, because it may come before the command', () => {
  const kinds = new Map<string, string>()
  for (const { flags } of commands)
    for (const [name, flag] of Object.entries(flags)) {
      const kind = JSON.stringify([takesValue(flag), flag.choices])
      expect([name, kinds.get(name) ?? kind]).toEqual([name, kind])
      kinds.set(name, kind)
    }
})
