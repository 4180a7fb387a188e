import { Transform, Writable } from 'node:stream'

const [INTERRUPT, END, RETURN, NEWLINE] = [0x03, 0x04, 0x0d, 0x0a]

/** A minimal terminal driver between a program and a user whose client sends each key unchanged. */
export interface Terminal {
  /** Typed input for the program. */
  readonly input: Transform
  /** Output for the user. */
  readonly output: Writable
}

/** @param interrupt called for Ctrl-C */
export function terminal(client: Writable, interrupt: () => void): Terminal {
  const input = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      if (bytes.includes(INTERRUPT)) {
        interrupt()
        return done()
      }
      const end = bytes.indexOf(END)
      const typed = Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).map((byte) =>
        byte === RETURN ? NEWLINE : byte,
      )
      client.write(withReturns(Buffer.from(typed)), () => done())
      this.push(typed)
      if (end >= 0) this.push(null)
    },
  })
  const output = new Writable({
    write(bytes: Buffer, _encoding, done) {
      client.write(withReturns(bytes), done)
    },
  })
  return { input, output }
}

const withReturns = (bytes: Buffer): Buffer =>
  bytes.includes(NEWLINE) ? Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') : bytes
