import { Transform, Writable } from 'node:stream'

const [INTERRUPT, END, RETURN, NEWLINE] = [0x03, 0x04, 0x0d, 0x0a]

/** What stands between a program and who types in place of a terminal's driver: the client sends each key as it is. */
export interface Terminal {
  /** What was typed. */
  readonly input: Transform
  /** What is shown. */
  readonly output: Writable
}

/** @param interrupt Ctrl-C was typed */
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
