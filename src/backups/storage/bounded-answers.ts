import { pipeline, Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'

/** What is not an object: a page of a list has 1000 names of at most 1024 bytes each. */
const MOST_BYTES = 16 << 20

/**
 * Makes a client give up on an answer that is longer than it can be, before its bytes are in memory: a service that lies, or something that is no
 * S3 service, may send without end.
 * @param mostOfObject bytes of an object that a request may get
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
    // next to the connection: whatever reads the body reads the bounded one
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
