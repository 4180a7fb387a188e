import { cancelOperation } from './cancel-operation.ts'
import { continueOperation } from './continue-operation.ts'
import { getOperation } from './get-operation.ts'
import { listOperations } from './list-operations.ts'
import { pauseOperation } from './pause-operation.ts'
import { retryOperation } from './retry-operation.ts'
import { watchOperation } from './watch-operation.ts'

/** In the order of the API description. */
export const endpoints = [
  listOperations,
  getOperation,
  watchOperation,
  cancelOperation,
  retryOperation,
  pauseOperation,
  continueOperation,
]
