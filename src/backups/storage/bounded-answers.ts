import { pipeline, Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'

/** The limit for an answer other than an object. A page of a list has 1000 names of at most 1024 bytes each. */
const MOST_BYTES = 16 << 20

/**
 * Makes a client abort an answer that exceeds the possible length, before its bytes are in memory. A faulty service, or
 * a server that is not S3, could send forever.
 * @param mostOfObject returns the most bytes of an object that a request may return
 */
export function boundAnswers(client: S3Client, mostOfObject: (key: string) => number): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args)
        const response = result.response as { body?: unknown }
        const { Key = '' } = args.input as { Key?: string }
        const most = commandName === 'GetObjectCommand' ? mostOfObject(Key) : MOST_BYTES
        if (response.body instanceof Readable) response.body = bounded(response.body, most)
        return result
      },
    // It is next to the connection, so that every reader of the body gets the bounded one.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  )
}

function bounded(body: Readable, mostBytes: number): Readable {
  let bytes = 0
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      if (bytes > mostBytes) done(new Error(`an answer has more than ${mostBytes} bytes`))
      else done(null, piece)
    },
  })
  return pipeline(body, counted, () => {})
}
