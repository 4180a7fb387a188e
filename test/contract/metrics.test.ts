/** `/metrics` names metrics as Prometheus wants, docs/metrics.md lists them, and the dashboard queries only these. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { allMetrics } from '../support/metrics.ts'

const docs = join(import.meta.dirname, '../../docs')
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

/** A metric as the text format describes it. */
interface Told {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
}

let made: TestDatabase
let text: string
let all: readonly Told[]
beforeAll(async () => {
  made = await testDatabase('sqlite')
  text = (await allMetrics(made.database)).text
  all = read(text)
})
afterAll(() => made.drop())

function read(exposition: string): Told[] {
  return exposition
    .split('# HELP ')
    .slice(1)
    .map((part) => {
      const [heading = '', kind = '', ...lines] = part.trim().split('\n')
      const [name = '', ...help] = heading.split(' ')
      return { name, help: help.join(' '), type: kind.split(' ').at(-1) as string, samples: lines.map(sample) }
    })
}

function sample(line: string) {
  const [, name = '', labels = ''] = /^([a-zA-Z0-9_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
  const pairs = [...labels.matchAll(/([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"/g)]
  return { name, labels: Object.fromEntries(pairs.map(([, label, value]) => [label as string, value as string])) }
}

const histogramParts = /_(bucket|sum|count)$/
/**
 * Units that are parts or multiples of another, and short names of units (https://prometheus.io/docs/practices/naming).
 */
const otherUnits =
  /^(s|ms|us|ns|sec|millis\w*|micros\w*|nanos\w*|minutes?|hours?|days?|weeks?|b|kb|mb|gb|tb|\w+bytes|bits?|percent|pct)$/

describe('names', () => {
  it('appear once, with a description, and every sample belongs to its metric', () => {
    expect(all.length).toBeGreaterThan(40)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    for (const { name, help, type, samples } of all) {
      expect([name, help.length > 5, type]).toEqual([name, true, expect.stringMatching(/^(gauge|counter|histogram)$/)])
      for (const each of samples)
        expect(type === 'histogram' ? each.name.replace(histogramParts, '') : each.name).toBe(name)
      const series = samples.map((each) => JSON.stringify([each.name, Object.entries(each.labels).sort()]))
      expect([name, new Set(series).size]).toEqual([name, series.length])
    }
  })

  it('say what they count: counters end in _total and nothing else does, and units are base units', () => {
    for (const { name, type } of all) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
      expect(name).toMatch(/^(stead|process|nodejs)(_[a-z0-9]+)+$/)
      expect(name).not.toMatch(histogramParts)
      const words = name.split('_')
      expect([name, words.filter((word) => otherUnits.test(word))]).toEqual([name, []])
      expect([name, words.filter((word) => /^(gauge|counter|histogram|summary)$/.test(word))]).toEqual([name, []])
    }
  })

  it('have labels with values from the code', () => {
    const own = all.filter(({ name }) => name.startsWith('stead_'))
    for (const { name, type, samples } of own)
      for (const { labels } of samples)
        for (const [label, value] of Object.entries(labels)) {
          expect([name, label]).toEqual([name, expect.stringMatching(/^[a-z_]+$/)])
          expect([name, label === 'le']).toEqual([name, label === 'le' && type === 'histogram'])
          expect(value.length).toBeLessThan(60)
        }
  })

  it.skipIf(!hasPromtool)('pass promtool check metrics (promtool: Debian has it in the package prometheus)', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  })
})

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

describe('docs/grafana-dashboard.json', () => {
  let panels: readonly Panel[]
  beforeAll(async () => {
    panels = JSON.parse(await readFile(join(docs, 'grafana-dashboard.json'), 'utf8')).panels
  })
  const queries = () => panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })))

  it('queries metrics and labels that exist', () => {
    const labelsOf = new Map<string, Set<string>>()
    for (const { name, type, samples } of all)
      for (const each of samples) {
        const labels = labelsOf.get(each.name) ?? new Set(['instance', 'job'])
        for (const label of Object.keys(each.labels)) labels.add(label)
        labelsOf.set(each.name, labels)
        if (type === 'histogram') labelsOf.set(name, new Set())
      }
    expect(queries().length).toBeGreaterThan(30)
    for (const { title, expr, legendFormat } of queries()) {
      const names = expr.match(/\b(?:stead|nodejs|process)_\w+/g) ?? []
      expect([title, names.length > 0]).toEqual([title, true])
      const known = names.map((name) => labelsOf.get(name) ?? new Set<string>())
      expect([title, names.filter((name) => !labelsOf.get(name)?.size)]).toEqual([title, []])
      const grouped = [...expr.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
      const compared = [...expr.matchAll(/[{,](\w+)(?:=~|!=|=)"/g)].map(([, label]) => label as string)
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label as string)
      for (const label of [...grouped, ...compared, ...shown])
        expect([title, label, known.every((labels) => labels.has(label))]).toEqual([title, label, true])
    }
  })

  it('shows every metric of Stead', () => {
    const asked = queries()
      .map(({ expr }) => expr)
      .join(' ')
    const missing = all.filter(
      ({ name }) => name.startsWith('stead_') && !new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(asked),
    )
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('has panels that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})

it('docs/prometheus-alerts.yml queries metrics and labels that exist', async () => {
  const rules = (await readFile(join(docs, 'prometheus-alerts.yml'), 'utf8')).split('- alert: ').slice(1)
  expect(rules.length).toBeGreaterThan(2)
  for (const rule of rules) {
    const [title = ''] = rule.split('\n')
    const expr = /expr: (.*)/.exec(rule)?.[1] ?? ''
    const names = expr.match(/\bstead_\w+/g) ?? []
    expect([title, names.length > 0]).toEqual([title, true])
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
    const shown = [...rule.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label as string)
    for (const name of names) {
      const labels = new Set(all.filter((each) => each.name === name).flatMap(labelsOf))
      expect([title, name, grouped.filter((label) => !labels.has(label))]).toEqual([title, name, []])
    }
    expect([title, shown.filter((label) => !grouped.includes(label))]).toEqual([title, []])
  }
})

it.skipIf(!hasPromtool)('promtool accepts docs/prometheus-alerts.yml', () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', join(docs, 'prometheus-alerts.yml')])
  expect([status, String(stderr)]).toEqual([0, ''])
})

const labelsOf = ({ samples }: Told): string[] => samples.flatMap(({ labels }) => Object.keys(labels))

it('docs/metrics.md is current (npm run docs:metrics writes it)', async () => {
  const rows = all
    .filter(({ name }) => name.startsWith('stead_'))
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ name, type, help, samples }) => {
      const labels = new Set(samples.flatMap((each) => Object.keys(each.labels)))
      labels.delete('le')
      return `| \`${name}\` | ${type} | ${[...labels].sort().join(', ')} | ${help} |`
    })
  await expect(`# Metrics

\`GET /metrics\` of an API process returns these metrics for Prometheus. They cover that process, all
hosts and edges (through the database, up to ten seconds old), and the installation.

Metrics of a process have the labels \`part\` and \`process\`. \`process\` changes at each start. If you
scrape several API processes, each of them returns the metrics of hosts and edges. Put
\`max without (instance) (…)\` before a sum to count them once. \`nodejs_…\` and \`process_…\` describe
the API process.

Import [grafana-dashboard.json](grafana-dashboard.json) into Grafana. \`npm run docs:metrics\` writes
this page.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
${rows.join('\n')}
`).toMatchFileSnapshot(join(docs, 'metrics.md'))
})
