import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sdkTypes } from '../support/sdk-types.ts'

it('the types of the SDK come from openapi/openapi.json (else: npm run openapi)', async () => {
  const types = await sdkTypes(readFileSync('openapi/openapi.json', 'utf8'))
  await expect(types).toMatchFileSnapshot('../../src/sdk/api.generated.ts')
})
