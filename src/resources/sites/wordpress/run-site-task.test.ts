import { describe, expect, test, vi } from 'vitest'
import { PhpBusy } from '../../../hosting/php/runtime.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from './run-site-task.ts'

describe('a task in the WordPress of a site', () => {
  const runTask = vi.fn()
  const hosted = { siteId: 7 }
  const services = {
    hostedSite: async (siteId: number) => (siteId === 7 ? hosted : undefined),
    pool: { runTask },
  } as unknown as HostServices

  test('runs as requested, and returns its result', async () => {
    runTask.mockResolvedValueOnce({ deleted: true, heir: 'ann' })
    const input = { email: 'e', reassign: 'next', keep: { login: 'l', email: 'e' } } as const
    const answer = await runSiteTask(services, 7, 'delete-user', input, { background: true, refusal: 'No' })
    expect(answer).toEqual({ deleted: true, heir: 'ann' })
    expect(runTask).toHaveBeenLastCalledWith(hosted, 'delete-user', input, { background: true })
  })

  test('fails permanently if the site is not installed, or if its WordPress refuses', async () => {
    await expect(runSiteTask(services, 8, 'cron', {})).rejects.toThrow(
      new PermanentFailure('The site is not installed yet'),
    )
    runTask.mockRejectedValue(new PhpTaskError('no such user'))
    const plain = runSiteTask(services, 7, 'cron', {})
    await expect(plain).rejects.toThrow(new PermanentFailure('WordPress refused: no such user'))
    const named = runSiteTask(services, 7, 'cron', {}, { refusal: 'It was not emptied' })
    await expect(named).rejects.toThrow(new PermanentFailure('It was not emptied: no such user'))
    await expect(named).rejects.toBeInstanceOf(PermanentFailure)
  })

  test('can be retried if there was no memory', async () => {
    const busy = new PhpBusy('no memory')
    runTask.mockRejectedValue(busy)
    await expect(runSiteTask(services, 7, 'cron', {})).rejects.toBe(busy)
  })
})
