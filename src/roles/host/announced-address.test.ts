import { expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { announcedAddress } from './announced-address.ts'

const announced = (settings: Record<string, string>, own?: string) =>
  announcedAddress(readConfig(settings), 8090, own === undefined ? undefined : async () => own)
const database = 'postgres://stead@10.0.0.1/stead'

test('announces the listening address, with the assigned port', async () => {
  expect(await announced({ STEAD_HOST_LISTEN: '10.0.0.5:0' })).toBe('http://10.0.0.5:8090')
  expect(await announced({ STEAD_HOST_LISTEN: '[fd00::5]:0' })).toBe('http://[fd00::5]:8090')
})

test('prefers the advertised address', async () => {
  const settings = { STEAD_HOST_LISTEN: '0.0.0.0:8090', STEAD_HOST_ADVERTISE: '192.0.2.7:9000' }
  expect(await announced(settings)).toBe('http://192.0.2.7:9000')
})

test('announces the address towards the database when it listens on all addresses, and never 0.0.0.0', async () => {
  for (const listen of ['0.0.0.0:8090', '[::]:8090']) {
    const settings = { STEAD_HOST_LISTEN: listen, STEAD_DATABASE_URL: database }
    expect(await announced(settings, '10.0.0.5')).toBe('http://10.0.0.5:8090')
    for (const own of ['127.0.0.1', ''])
      await expect(announced(settings, own)).rejects.toThrow('Set STEAD_HOST_ADVERTISE')
    expect(await announced({ STEAD_HOST_LISTEN: listen })).toBe('http://127.0.0.1:8090')
  }
})

test('cannot derive an address from a database on this machine', async () => {
  const settings = { STEAD_HOST_LISTEN: '0.0.0.0:8090', STEAD_DATABASE_URL: 'postgres://stead@127.0.0.1:5432/stead' }
  await expect(announced(settings)).rejects.toThrow('Set STEAD_HOST_ADVERTISE')
})
