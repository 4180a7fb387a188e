/** Runs the commands that call the API: from an empty data folder to a site that answers, and its deletion. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core)('the command line, with the credentials of the data folder', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
  })
  afterAll(() => stead?.remove())

  /** Uses the credentials of this data folder, not those of another sign-in. */
  const run = (...words: string[]) => stead.cli(...words, '--data-dir', stead.dataDir)

  test('creates a site with its steps and its address, lists it, opens it, shows it, and deletes it', async () => {
    const made = await run('sites', 'create', 'by-command', '--wait')
    expect(made).toMatchObject({ code: 0, stdout: `http://by-command.localhost:${stead.edgePort}\n` })
    expect(made.stderr).toMatch(/✓ content \(\d.*\n[\s\S]*✓ live/)
    const listed = await run('sites', 'list', '--fields', 'name,state')
    expect(listed).toEqual({ code: 0, stdout: 'name\tstate\nby-command\tlive\n', stderr: '' })
    const opened = await run('sites', 'open', 'by-command')
    expect(opened.stdout).toBe(made.stdout)
    expect((await stead.visit('by-command')).text).toContain('<title>by-command</title>')
    await until('the visit is in the log', async () =>
      (await run('sites', 'logs', 'by-command')).stdout.includes(' GET / 200 '),
    )

    const refused = await run('sites', 'delete', 'by-command')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect((await run('sites', 'delete', 'by-command', '--yes', '--wait')).code).toBe(0)
    expect((await run('sites', 'list', '--json')).stdout).toBe('[]\n')
    expect((await stead.visit('by-command')).status).toBe(404)
  })

  test('creates and downloads a backup, and explains errors, also in output for programs', async () => {
    await run('sites', 'create', 'backed-up', '--wait')
    const ordered = await run('backups', 'create-ondemand', 'backed-up', 'db', '--wait', '--json')
    expect([ordered.code, JSON.parse(ordered.stdout).type]).toEqual([0, 'db'])
    const id = (await run('backups', 'list-ondemand', 'backed-up', '--get', 'id')).stdout.trim()
    const fetched = await run('backups', 'download-ondemand', 'backed-up', id, '--output', '-')
    expect(fetched).toMatchObject({ code: 0, stdout: expect.stringContaining('CREATE TABLE') })
    const { code, stderr } = await run('sites', 'create', 'backed-up', '--json')
    expect([code, JSON.parse(stderr).status]).toEqual([1, 400])
  })
})
