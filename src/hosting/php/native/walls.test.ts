import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
  testUid,
} from '../../../../test/support/site-directory.ts'
import { runtimes } from '../../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const native = runtimes.find(({ runtime }) => runtime === 'native')

/**
 * Tests each layer of isolation separately, because another layer behind it would hide its failure.
 * `wasm/hostile.test.ts` tests them together.
 */
describe.skipIf(!core || !native || native.skip)('the isolation of native PHP', () => {
  let runtime: PhpRuntime
  let siteDirectories: TestDirectory[]
  let sites: PhpProcess[]

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: 'native' })
    const phpVersion = native?.phpVersion ?? '8.2'
    siteDirectories = await Promise.all([1, 2].map(() => testDirectory(core as string, { phpVersion })))
    sites = await Promise.all(siteDirectories.map((directory) => runtime.start(directory)))
  })
  afterAll(async () => {
    await runtime?.close()
    await Promise.all((siteDirectories ?? []).map((directory) => directory.remove()))
  })

  async function run(code: string, number = 0): Promise<unknown> {
    const script = await siteDirectories[number]?.script('wall.php', `echo json_encode((function () { ${code} })());`)
    return JSON.parse((await fetchPage(sites[number] as PhpProcess, testRequest('/wall.php', script))).text)
  }
  const status = async (name: string) =>
    run(
      `preg_match('/^${name}:[ \\t]*(.*?)[ \\t]*$/m', file_get_contents('/proc/self/status'), $m); return preg_split('/\\s+/', $m[1]);`,
    )

  it('runs PHP as the site’s user without groups or capabilities, and no program grants any', async () => {
    const uid = String(testUid)
    expect(await status('Uid')).toEqual([uid, uid, uid, uid])
    expect(await status('Gid')).toEqual([uid, uid, uid, uid])
    expect(await status('Groups')).toEqual([''])
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
      expect([set, await status(set)]).toEqual([set, ['0000000000000000']])
    expect(await status('NoNewPrivs')).toEqual(['1'])
  })

  it('lets PHP write only to its own folders', async () => {
    const mounts = (await run(`return file('/proc/self/mountinfo');`)) as string[]
    const writable = mounts.map((line) => line.split(' ')).filter((words) => !words[5]?.split(',').includes('ro'))
    // The folder of php-fpm's socket was removed outside, so nothing can be created there.
    const own = ['/run/listen', '/wordpress', '/private', '/tmp', '/stead-cache']
    const places = writable.map((words) => words[4] as string).filter((place) => !/^\/(?:dev|proc)(?:\/|$)/.test(place))
    expect(places.filter((place) => place !== '/').sort()).toEqual([...own].sort())
    for (const path of ['/x', '/run/listen/x'])
      expect(await run(`return @file_put_contents('${path}', 'x');`)).toBe(false)
  })

  it('has its own namespaces, with no network except its loopback and only its own processes', async () => {
    for (const kind of ['pid', 'net', 'ipc', 'uts', 'mnt'])
      expect([kind, await run(`return readlink('/proc/self/ns/${kind}');`)]).not.toEqual([
        kind,
        await readlink(`/proc/self/ns/${kind}`),
      ])
    expect(
      await run(`return array_map(fn ($line) => trim(strtok($line, ':')), array_slice(file('/proc/net/dev'), 2));`),
    ).toEqual(['lo'])
    const names = (await run(
      `return array_map(fn ($pid) => trim(file_get_contents("/proc/$pid/comm")), array_values(array_filter(scandir('/proc'), 'is_numeric')));`,
    )) as string[]
    expect(new Set(names.map((name) => name.replace(/\d.*/, '')))).toEqual(new Set(['bwrap', 'php-fpm']))
  })

  it('lets no datagram out, and reaches none of the machine’s abstract sockets', async () => {
    const [got, open] = [[] as string[], createSocket('udp4')]
    open.on('message', (text) => got.push(String(text)))
    open.bind(0, '0.0.0.0')
    await once(open, 'listening')
    const abstract = createServer((socket) => socket.end('reached')).listen({ path: '\0stead-walls-test' })
    await once(abstract, 'listening')
    try {
      const { port } = open.address()
      const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? [])
      for (const address of own.filter((each) => !each.includes(':')))
        await run(`$s = @stream_socket_client('udp://${address}:${port}'); return $s && @fwrite($s, 'out of it');`)
      expect(await run(`return (bool) @stream_socket_client("unix://\0stead-walls-test");`)).toBe(false)
      // Earlier datagrams would have arrived by now.
      const [heard, sender] = [once(open, 'message'), createSocket('udp4')]
      sender.send('of the machine', port, '127.0.0.1', () => sender.close())
      await heard
      expect(got).toEqual(['of the machine'])
    } finally {
      open.close()
      abstract.close()
    }
  })

  it('keeps PHP from talking to php-fpm itself, and from reporting that it is done while it works', async () => {
    expect(
      await run(`return [file_exists('/run/listen/fpm'), is_dir('/run/listen') ? scandir('/run/listen') : []];`),
    ).toEqual([false, expect.not.arrayContaining(['fpm'])])
    expect(await run(`return function_exists('fastcgi_finish_request');`)).toBe(false)
  })

  it('does not contain what another site keeps in memory', async () => {
    expect(await run(`return function_exists('apcu_store') ? apcu_store('key', 'secret') : null;`)).not.toBe(false)
    expect(await run(`return function_exists('apcu_fetch') && apcu_fetch('key');`, 1)).toBe(false)
    await siteDirectories[0]?.script('mine.php', "return 'of the first';")
    await siteDirectories[1]?.script('mine.php', "return 'of the second';")
    expect(await run(`return require '/wordpress/mine.php';`)).toBe('of the first')
    expect(await run(`return require '/wordpress/mine.php';`, 1)).toBe('of the second')
  })

  it('limits the memory of each process, and writes no core dumps', async () => {
    const limits = (await run(`return file_get_contents('/proc/self/limits');`)) as string
    expect(Number(/^Max address space\s+\S+\s+(\S+)/m.exec(limits)?.[1])).toBeLessThan(2 ** 31)
    expect(/^Max core file size\s+\S+\s+(\S+)/m.exec(limits)?.[1]).toBe('0')
  })

  it('has an empty environment', async () => {
    const names = Object.keys((await run('return getenv();')) as object)
    expect(names.filter((name) => process.env[name] !== undefined && name !== 'PWD')).toEqual([])
  })
})
