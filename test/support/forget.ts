/** Of each file of unit tests: what its process remembers ends with it. */
import { afterAll } from 'vitest'
import { forgetAll } from '../../src/platform/process-memory.ts'

afterAll(forgetAll)
