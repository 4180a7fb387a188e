/** The image, `compose.yaml`, and the manifests of Kubernetes use settings that exist, and fit together. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const folder = 'packaging/kubernetes'

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly resources?: readonly string[]
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>>
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: readonly [Container] }
    }
    readonly ports: readonly { readonly name: string; readonly targetPort?: string }[]
  }
}

const manifests = readdirSync(join(root, folder)).flatMap((file) =>
  parseAllDocuments(read(join(folder, file))).map((document) => document.toJS() as Manifest),
)
const ofKind = (...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind))
const workloads = ofKind('Deployment', 'StatefulSet')
const image: Record<string, string> = {}
for (const [, name = '', value = ''] of read('Containerfile').matchAll(/(STEAD_\w+)=(\S+)/g)) image[name] = value

/** Sets what an operator must fill in. */
const filled = (settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value.replace(/\$\{(\w+)[^}]*\}/g, 'x') || 'x']),
  )
const key = { STEAD_MASTER_KEY: Buffer.alloc(32).toString('base64') }
const configOf = (settings: Readonly<Record<string, string>>) => readConfig({ ...image, ...filled(settings), ...key })

test('the settings of the image and of compose.yaml are accepted', () => {
  expect(Object.keys(image)).toContain('STEAD_API_LISTEN')
  expect(() => configOf({})).not.toThrow()
  const { services, volumes } = parse(read('compose.yaml'))
  const { STEAD_ACCOUNT_EMAIL, ...environment } = services.stead.environment
  expect(STEAD_ACCOUNT_EMAIL).toContain('STEAD_ACCOUNT_EMAIL:?')
  expect(() => configOf({ ...environment, STEAD_ACCOUNT_EMAIL: 'you@example.com' })).not.toThrow()
  expect(() => configOf({ ...environment, STEAD_ACOUNT_EMAIL: 'you@example.com' })).toThrow('STEAD_ACOUNT_EMAIL')
  const named = Object.values<{ volumes?: string[] }>(services).flatMap((each) => each.volumes ?? [])
  expect(named.map((each) => each.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort())
  const asked = new Set(read('compose.yaml').match(/(?<=\$\{)\w+/g))
  expect([...asked].sort()).toEqual(
    read('packaging/container/example.env')
      .match(/^\w+(?==)/gm)
      ?.sort(),
  )
})

describe('the manifests', () => {
  test('are all listed, and have settings that every role accepts', () => {
    const [kustomization] = ofKind('Kustomization') as [Manifest]
    const files = readdirSync(join(root, folder)).filter((file) => file !== 'kustomization.yaml')
    expect([...(kustomization.resources ?? [])].sort()).toEqual(files.sort())
    const shared = Object.assign({}, ...ofKind('ConfigMap', 'Secret').map(({ data, stringData }) => data ?? stringData))
    for (const { metadata, spec } of workloads) {
      const own = spec.template.spec.containers[0].env?.map(({ name, value }) => [name, value]) ?? []
      expect(() => configOf({ ...shared, ...Object.fromEntries(own) }), metadata.name).not.toThrow()
    }
  })

  test('start each role once, with the ports of the image', () => {
    const args = workloads.map(({ spec }) => spec.template.spec.containers[0].args.join())
    expect(args.sort()).toEqual(['control', 'dns', 'edge', 'host'])
    const exposed = read('Containerfile')
      .match(/^EXPOSE (.*)$/m)?.[1]
      ?.match(/\d+/g)
      ?.map(Number)
    for (const { spec } of workloads)
      for (const { containerPort } of spec.template.spec.containers[0].ports) expect(exposed).toContain(containerPort)
  })

  test('select the pods that they mean, by ports that these have', () => {
    for (const { spec } of workloads) expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
    for (const { metadata, spec } of ofKind('Service')) {
      const meant = workloads.find((each) => each.spec.template.metadata.labels.role === spec.selector.role)
      expect(meant?.metadata.name, metadata.name).toBe(metadata.name)
      const ports = meant?.spec.template.spec.containers[0].ports.map(({ name }) => name)
      for (const { name, targetPort } of spec.ports) expect(ports, metadata.name).toContain(targetPort ?? name)
    }
  })

  test('use one version of the image', () => {
    const images = new Set(workloads.map(({ spec }) => spec.template.spec.containers[0].image))
    expect(images.size).toBe(1)
  })
})
