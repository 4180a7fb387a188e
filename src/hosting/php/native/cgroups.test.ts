import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import { fetchPage, testDirectory, testRequest, usualRuntime } from '../../../../test/support/site-directory.ts'
import { runtimes } from '../../../../test/support/ways.ts'
import { processTree } from '../wasm/process-tree.ts'
import { Cgroups } from './cgroups.ts'
import { createNativeRuntime } from './start.ts'

const core = await testCore()
const native = runtimes.find(({ runtime }) => runtime === 'native')

const MB = 1 << 20

describe('the files written for groups of sites', () => {
  let folder: string
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-cgroup-'))
    await writeFile(join(folder, 'cgroup.controllers'), 'cpuset cpu io memory hugetlb pids\n')
    await writeFile(join(folder, 'cgroup.procs'), '')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('limit the memory of all sites together, limit memory and processes of each, and give sites less weight than Stead', async () => {
    const groups = await Cgroups.open(folder, { memoryBytes: 1300 * MB })
    expect(groups.missing).toEqual([])
    expect(await read('sites/memory.max')).toBe(String(1300 * MB))
    const group = await groups.make({ memoryBytes: 700 * MB, most: 99 })
    const own = (name: string) => readFile(group.entry.replace('cgroup.procs', name), 'utf8')
    expect(await own('memory.max')).toBe(String(700 * MB))
    expect(await own('pids.max')).toBe('99')
    expect([await own('cpu.weight'), await own('io.weight')]).toEqual(['50', 'default 50'])
    await group.setLow(true)
    expect([await own('cpu.weight'), await own('io.weight')]).toEqual(['5', 'default 5'])
    const other = await groups.make({ memoryBytes: 700 * MB, most: 99 })
    expect(other.entry).not.toBe(group.entry)
  })

  it('leave out controllers that are not available, and report them', async () => {
    await writeFile(join(folder, 'cgroup.controllers'), 'memory\n')
    const groups = await Cgroups.open(folder, { memoryBytes: MB })
    expect(groups.missing).toEqual(['pids', 'cpu', 'io'])
    const group = await groups.make({ memoryBytes: MB, most: 9 })
    await group.setLow(true)
    expect(existsSync(group.entry.replace('cgroup.procs', 'memory.max'))).toBe(true)
    for (const name of ['pids.max', 'cpu.weight', 'io.weight'])
      expect(existsSync(group.entry.replace('cgroup.procs', name))).toBe(false)
  })

  it('move processes in the folder itself into a separate group', async () => {
    await writeFile(join(folder, 'cgroup.procs'), '123\n')
    await Cgroups.open(folder, { memoryBytes: MB })
    expect(await read('stead/cgroup.procs')).toBe('123')
  })

  it('are not written to a folder that is not a cgroup', async () => {
    await rm(join(folder, 'cgroup.controllers'))
    await expect(Cgroups.open(folder, { memoryBytes: MB })).rejects.toThrow('cgroup.controllers')
  })
})

const mounted = existsSync('/sys/fs/cgroup/unified/cgroup.procs') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup'
const place = join(mounted, `stead-test-${process.pid}`)
const canMake = (() => {
  try {
    execFileSync(
      'sh',
      ['-c', 'test -e "$0/cgroup.kill" || { mkdir "$0" && test -e "$0/cgroup.kill" && rmdir "$0"; }', place],
      {
        stdio: 'ignore',
      },
    )
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!canMake)('groups of sites in the kernel', () => {
  beforeEach(() => mkdir(place))
  afterEach(async () => {
    await rmdir(join(place, 'sites')).catch(() => {})
    await rmdir(place)
  })

  it('end everything in them, including leftovers of a host that died', async () => {
    const groups = await Cgroups.open(place, { memoryBytes: 1 << 30 })
    const begun = async () => {
      const group = await groups.make({ memoryBytes: 1 << 30, most: 99 })
      const child = spawn('sh', ['-c', 'echo $$ > "$0" && echo in && sleep 1000 & wait', group.entry])
      await once(child.stdout, 'data')
      return { group, gone: once(child, 'exit') }
    }
    const [first, second] = [await begun(), await begun()]
    expect(await readFile(first.group.entry, 'utf8')).not.toBe('')
    await first.group.end()
    await Cgroups.open(place, { memoryBytes: 1 << 30 })
    expect([existsSync(first.group.entry), existsSync(second.group.entry)]).toEqual([false, false])
    await second.group.end()
  })

  it.skipIf(!core || !native || native.skip)('contain a site’s PHP with all of its processes', async () => {
    const groups = { folder: place, memoryBytes: 1 << 30, siteMemoryBytes: 1 << 29 }
    const runtime = await createNativeRuntime({ ...usualRuntime(), groups })
    const directory = await testDirectory(core as string, { phpVersion: native?.phpVersion ?? '8.2' })
    try {
      expect(runtime.containment().notes.join()).toContain(`the kernel limits the resources of sites (${place}`)
      const php = await runtime.start(directory)
      await fetchPage(php, testRequest('/a.php', await directory.script('a.php', "echo 'a';")))
      for (const pid of processTree(php.pid))
        expect(await readFile(`/proc/${pid}/cgroup`, 'utf8')).toMatch(/^0::.*\/sites\/\d+-1$/m)
      await php.stop(0)
    } finally {
      await runtime.close()
      await directory.remove()
    }
    await expect
      .poll(
        async () =>
          (await readdir(join(place, 'sites'), { withFileTypes: true })).filter((each) => each.isDirectory()).length,
      )
      .toBe(0)
  })
})
