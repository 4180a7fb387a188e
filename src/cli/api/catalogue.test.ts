import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { localWords } from '../parse-arguments.ts'
import { catalogue, ownFlags } from './catalogue.ts'
import { apiVerbs } from './command-names.ts'
import { allNames } from './main.ts'
import { usageLine } from './parse-call.ts'
import { usageOf } from './run.ts'

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
const operations = Object.entries<
  Record<string, { operationId: string; tags: string[]; requestBody?: { content: object } }>
>(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    // Programs have tokens.
    .filter(([, { tags }]) => tags[0] !== 'Sign-in')
    // A separate command sends whole files.
    .filter(([, { requestBody }]) => !Object.keys(requestBody?.content ?? {}).includes('application/octet-stream'))
    .map(([method, { operationId }]) => [operationId, method, path]),
)

test.each(operations)('%s has a command that calls %s %s', (operationId, method, path) => {
  const found = catalogue().commands.filter((command) => command.operationId === operationId)
  expect(found).toMatchObject([{ method, path }])
  const [command] = found
  expect(command?.name).toMatch(/^[a-z-]+ [a-z0-9-]+$/)
  // Every parameter of the path is a word, in the same order.
  const inPath = command?.words.filter((field) => field.in === 'path').map(({ name }) => `{${name}}`)
  expect(inPath).toEqual(path?.match(/\{\w+\}/g) ?? [])
})

test("gives each command its own name, and none begins with a word of the operator's commands", () => {
  expect(new Set(allNames()).size).toBe(allNames().length)
  expect(allNames().filter((name) => localWords.includes(name.split(' ')[0] as string))).toEqual([])
})

test('gives each flag of a command one meaning', () => {
  for (const command of catalogue().commands) {
    const { flags, own } = usageOf(command)
    const names = [...flags.map(({ flag }) => flag), ...Object.keys(own)]
    expect([command.name, new Set(names).size]).toEqual([command.name, names.length])
    expect(Object.keys(own).filter((name) => !ownFlags.includes(name))).toEqual([])
  }
})

describe('usage lines', () => {
  const lines = new Map(catalogue().commands.map((command) => [command.operationId, usageLine(usageOf(command))]))
  test.each([
    ['listSites', 'stead sites list'],
    ['createSite', 'stead sites create NAME'],
    ['cloneSite', 'stead sites clone SITE NAME'],
    ['addDomain', 'stead domains add SITE NAME'],
    ['setPrimaryDomain', 'stead domains set-primary SITE DOMAIN'],
    ['installPlugins', 'stead plugins install SITE PLUGINS…'],
    ['createDnsRecord', 'stead zones create-record ZONE TYPE'],
    ['updateCmsVersion', 'stead cms-version update SITE [VERSION]'],
    ['getAccount', 'stead my-account get'],
    ['listCollaborators', 'stead collaborators list'],
    ['listSiteCollaborators', 'stead collaborators list-site SITE'],
    ['addSiteCollaborator', 'stead collaborators add SITE EMAIL'],
    ['resetSftpPassword', 'stead sftp-users reset-password SITE USERNAME'],
    ['watchOperation', 'stead operations watch OPERATION'],
    ['toggleLight404', 'stead performance toggle-light-404 SITE'],
  ])('%s: %s', (id, line) => {
    expect(lines.get(id)).toBe(line)
  })

  test('names the command on a site as such if two of a group would have the same name', () => {
    const at = (operationId: string, path: string) => ({ operationId, path, tag: 'Webhooks' })
    const verbs = apiVerbs([at('listWebhooks', '/v1/webhooks'), at('listSiteWebhooks', '/v1/sites/{id}/webhooks')])
    expect([...verbs.values()]).toEqual(['list', 'list-site'])
    expect([...apiVerbs([at('listSiteWebhooks', '/v1/sites/{id}/webhooks')]).values()]).toEqual(['list'])
  })
})

test('asks before operations that cannot be undone', () => {
  const asking = catalogue().commands.filter(({ isDestructive }) => isDestructive)
  const names = asking.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining([
      'sites delete',
      'backups restore',
      'backups sync-sites',
      'environments push',
      'environments pull',
      'plugins delete',
      'collaborators remove',
    ]),
  )
  expect(names).not.toContain('tags remove')
  for (const { method, operationId } of asking) expect([operationId, method]).not.toContain('get')
})
