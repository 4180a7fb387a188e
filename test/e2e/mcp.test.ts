/**
 * Does what a language model's client does with the program: from an empty data folder to a site that answers, and its
 * deletion.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { program, type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const core = await testCore()

describe.skipIf(!core)('stead mcp on standard input and output, with the credentials of the data folder', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
  })
  afterAll(() => stead?.remove())

  async function withClient(words: string[], work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ name: 'test', version: '1' })
    const args = [program, 'mcp', '--data-dir', stead.dataDir, ...words]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' }))
    try {
      await work(client)
    } finally {
      await client.close()
    }
  }
  const call = async (client: Client, name: string, args: object) => {
    // longer than the SDK's minute, for a machine that is busy
    const options = { timeout: 180_000 }
    const { content, isError } = await client.callTool({ name, arguments: args as never }, undefined, options)
    const [{ text }] = content as [{ text: string }]
    expect([name, isError ?? false, text]).toEqual([name, false, text])
    return JSON.parse(text)
  }

  test('only reads by default', () =>
    withClient([], async (client) => {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toContain('listSites')
      expect(tools.map(({ name }) => name)).not.toContain('createSite')
      expect((await call(client, 'listSites', {})).data).toEqual([])
    }))

  test('creates a site, waits for it, backs it up, and deletes it', () =>
    withClient(['--allow-changes'], async (client) => {
      const made = await call(client, 'createSite', { name: 'by-model' })
      const id = made.data.id
      const live = await call(client, 'wait_for_operation', { operation_id: made.operation_id, timeout_seconds: 170 })
      expect(live.state).toBe('succeeded')
      expect((await stead.visit('by-model')).text).toContain('<title>by-model</title>')

      const backup = await call(client, 'createOndemandBackup', { id, backup_type: 'db' })
      await call(client, 'wait_for_operation', { operation_id: backup.operation_id, timeout_seconds: 170 })
      const [{ id: backupId }] = (await call(client, 'listOndemandBackups', { id })).data
      const file = await call(client, 'downloadOndemandBackup', { site_id: id, id: backupId })
      expect(file).toMatchObject({
        path: `/v1/sites/${id}/ondemand-backups/${backupId}/download`,
        how: expect.stringContaining(`stead backups download-ondemand ${id} ${backupId} --output=FILE`),
      })

      const gone = await call(client, 'deleteSite', { id, confirm_site_name: 'by-model' })
      await call(client, 'wait_for_operation', { operation_id: gone.operation_id, timeout_seconds: 170 })
      expect((await stead.visit('by-model')).status).toBe(404)
    }))
})
