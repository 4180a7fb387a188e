/** What other folders may import from this resource. */
export { admitOperation } from './admit.ts'
export { changeableOperation } from './change-operation.ts'
export { OperationId, OperationSchema, presentOperation } from './operation.ts'
export { problems } from './problems.ts'
export { createStreamAccess, type StreamFacts } from './stream-access.ts'
