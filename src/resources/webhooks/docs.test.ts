/** Checks that the code in docs/webhooks.md works, and that the page names every event. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resources } from '../index.ts'
import { RETRY_AFTER_MS } from './delivery/retry.ts'
import { newSecret, signedHeaders } from './delivery/signature.ts'

const text = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')

test('its code recognizes requests from Stead', async () => {
  const [, code] = /```js\n([\s\S]*?)```/.exec(text) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'stead-docs-'))
  try {
    const file = join(folder, 'receiver.mjs')
    writeFileSync(file, code as string)
    const { isFromStead } = await import(/* @vite-ignore */ file)
    const secrets = [newSecret(), newSecret()] as const
    const body = '{"a":"ü"}'
    const headers = signedHeaders({ id: 'evt_1_00', body }, secrets, Date.now())
    expect(secrets.map((secret) => isFromStead(secret, headers, body))).toEqual([true, true])
    expect(isFromStead(newSecret(), headers, body)).toBe(false)
    expect(isFromStead(secrets[0], headers, `${body} `)).toBe(false)
    const old = signedHeaders({ id: 'evt_1_00', body }, secrets, Date.now() - 3_600_000)
    expect(isFromStead(secrets[0], old, body)).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('it names every event, and no other', () => {
  const table = text.slice(text.indexOf('## Event types'))
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split('|')[1] as string).matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const declared = resources.flatMap(({ events }) => Object.keys(events ?? {}))
  expect(named.toSorted()).toEqual(declared.toSorted())
})

test('its schedule is the actual one', () => {
  const units = { s: 1000, min: 60_000, h: 3_600_000 } as const
  const [row = ''] = /^\| the next one comes after .*$/m.exec(text) ?? []
  const pauses = [...row.matchAll(/(\d+) (s|min|h) /g)].map(([, count, unit]) => Number(count) * units[unit as 'h'])
  expect(pauses).toEqual([...RETRY_AFTER_MS])
})
