import { expect, test } from 'vitest'
import { isNeverPublic } from './never-public.ts'

test.each([
  'shop.invalid',
  'metadata.google.internal',
  'instance-data.ec2.internal',
  'metadata.azure.com',
  'nas.local',
  'host.localdomain',
  'a.onion',
  'a.alt',
  'router.home.arpa',
  '1.0.0.127.in-addr.arpa',
  'intranet',
  '127.1',
  'a.0x7f',
  '0x7f.0x1',
])('%s is never public', (name) => expect(isNeverPublic(name)).toBe(true))

test.each([
  'shop.test',
  'shop.localhost',
  'shop.example',
  'www.example.com',
  'internal.example.com',
  'mylocal.example',
  '127.0.0.1.nip.io',
  'www.azure.com',
  '0x7f.example',
  'xn--bcher-kva.example',
])('%s may be public', (name) => expect(isNeverPublic(name)).toBe(false))
