/** The API client for programs: `import { Stead } from 'stead/sdk'`. Runs in Node 20 and in browsers. */
export type { Answer } from './answer.ts'
export type { components, operations, paths } from './api.generated.ts'
export { Stead, type SteadOptions } from './client.ts'
export { ApiError, ConnectionError, OperationFailed } from './errors.ts'
export type { Import, UploadFile, UploadOptions, UploadProgress } from './upload.ts'
export type { Operation, WaitOptions } from './wait.ts'
export { type Delivery, verifyWebhook, WebhookError, type WebhookEvent } from './webhooks.ts'
