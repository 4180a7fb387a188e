import { describe, expect, test } from 'vitest'
import { ConfigError } from '../config.ts'
import { parseArguments } from './arguments.ts'

const parse = (line: string) => parseArguments(line.split(' ').filter(Boolean))

test('words, flags and settings come apart, wherever they stand', () => {
  expect(parse('--log-level=warn application create --account a@b.example --owner --name=ci --json')).toEqual({
    command: 'application',
    words: ['create'],
    flags: { account: 'a@b.example', owner: true, name: 'ci', json: true },
    settings: { '--log-level': 'warn' },
  })
})

test('a value may hold an equals sign and begin with a dash', () => {
  expect(parse('serve --master-key=YWJj= --rate-limit -1').settings).toEqual({
    '--master-key': 'YWJj=',
    '--rate-limit': '-1',
  })
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

describe('refused, with what to do', () => {
  test.each([
    ['serv', 'serv is no command of Stead. See: stead help'],
    ['constructor', 'constructor is no command'],
    ['account', 'needs one of: create, list, update, set-plan'],
    ['account drop', 'See: stead help account'],
    ['serve --fast', '--fast is no flag of Stead'],
    ['serve -x', '-x is no flag of Stead'],
    ['account list --email=a@b.example', '--email is no flag of stead account list'],
    ['serve --log-level', '--log-level needs a value'],
    ['account create --email --json', '--email needs a value'],
    ['config --json=yes', '--json takes no value'],
  ])('%s', (line, reason) => {
    expect(() => parse(line)).toThrow(ConfigError)
    expect(() => parse(line)).toThrow(reason)
  })
})
