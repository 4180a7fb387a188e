import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'

export interface S3Server {
  readonly url: string
  readonly bucket: string
  /** The credentials that it accepts. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  close(): Promise<void>
}

/** An S3 server on an address of this machine, with a bucket. */
export async function s3Server(address = '127.0.0.1'): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'stead-s3-'))
  const bucket = 'backups'
  const server = new S3rver({
    address,
    port: 0,
    silent: true,
    directory,
    // it computes signatures of queries with a slash differently than Amazon does
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  return {
    url: `http://${address}:${port}`,
    bucket,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    async close() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
