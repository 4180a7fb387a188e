import { cancelOperation } from './cancel-operation.ts'
import { getOperation } from './get-operation.ts'
import { listOperations } from './list-operations.ts'
import { retryOperation } from './retry-operation.ts'
import { watchOperation } from './watch-operation.ts'

/** In the order of the API description. */
export const endpoints = [listOperations, getOperation, watchOperation, cancelOperation, retryOperation]
