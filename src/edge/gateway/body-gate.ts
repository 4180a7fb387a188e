import type { Share } from '../../platform/budgets/budget.ts'
import type { Visit } from '../visit.ts'
import type { BodyPace } from './body-pace.ts'

/** Who has sent so much of a body is seen to send it. */
const ENOUGH_BYTES = 16_384

/**
 * Waits until the body of a request is there, or well under way, and leaves all of it to be read: who announces a body and does not send
 * it takes no connection to a host. Where there is no memory for what waits, nobody does.
 * @param memory what has come counts there while it waits
 * @param pace watches how it comes
 * @returns false when the visitor has gone
 */
export async function bodyMoves(visit: Visit, memory: Share | undefined, pace?: BodyPace): Promise<boolean> {
  const { request, response } = visit
  if (visit.expectsContinue) response.writeContinue()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const look = () => {
    const hasCome = request.complete || request.readableLength >= ENOUGH_BYTES
    if (hasCome || memory?.take(request.readableLength - memory.amount) === false) resolve(true)
  }
  visit.abandon = () => resolve(false)
  request.on('readable', look)
  pace?.waits()
  look()
  const isThere = await promise
  request.off('readable', look)
  visit.abandon = undefined
  // all of it counts when it is read
  pace?.came(0)
  memory?.free()
  return isThere && !response.destroyed
}
