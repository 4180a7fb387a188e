/** Ends the process memory of each unit test file with the file. */
import { afterAll } from 'vitest'
import { forgetAll } from '../../src/platform/process-memory.ts'

afterAll(forgetAll)
