import { Socket } from 'node:net'
import pg from 'pg'
import { DatabaseSilent, isSilent, watchSocket } from './postgres-silence.ts'

/** How long a server may take to answer a new connection. */
export const CONNECT_MS = 3000
/** How long a statement may run, and how long a transaction may wait for its next statement. */
const STATEMENT_S = 30
/**
 * The server ends a statement first, with an error that names the reason. If even that does not arrive, the connection
 * is dead.
 */
const SILENCE_MS = (STATEMENT_S + 5) * 1000
/** How long a transaction may take, because others wait for its locks. */
const TRANSACTION_S = 60
export const TRANSACTION_MS = (TRANSACTION_S + 5) * 1000
/** The idle time after which a connection is probed. */
const KEEP_ALIVE_S = 10

/**
 * Sent before the first statement. JIT compilation is off: for tables with few statistics, the server expects more work
 * than there is, and compiles for 8 ms what runs in 0.1 ms. The server ends slow statements and drops clients whose
 * machine is gone, so that their locks do not outlive them.
 */
const SET_UP = `
  set jit = off;
  set statement_timeout = '${STATEMENT_S}s';
  set idle_in_transaction_session_timeout = '${STATEMENT_S}s';
  set tcp_keepalives_idle = ${KEEP_ALIVE_S};
  set tcp_keepalives_interval = 5;
  set tcp_keepalives_count = 3;
  set tcp_user_timeout = '25s';
  select set_config('transaction_timeout', '${TRANSACTION_S}s', false)
    where current_setting('server_version_num')::int >= 170000`

/** Lifts the server's time limits until the transaction ends. */
export const LIFT_LIMITS = `
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  select set_config('transaction_timeout', '0', true) where current_setting('server_version_num')::int >= 170000`

/**
 * A connection that never waits forever. The server and this side both limit a statement, a silent server fails every
 * statement at once (see {@link watchSocket}), and a dead connection is closed. Every connection to PostgreSQL is one
 * of these.
 */
export class BoundedClient extends pg.Client {
  readonly #socket: Socket
  readonly #url: string
  readonly #isProbe: boolean

  /** @param isProbe whether it checks that a silent server is back: it may connect while no other connection may */
  constructor(config: pg.ClientConfig = {}, isProbe = false) {
    const socket = new Socket()
    const pipelined = {
      ...config,
      // Statements are sent before the answers to earlier ones arrive.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_S * 1000,
      stream: () => socket,
    }
    super(pipelined)
    this.#socket = socket
    this.#url = config.connectionString ?? ''
    this.#isProbe = isProbe
    watchSocket(this.#url, socket)
    socket.on('timeout', () => socket.destroy(new DatabaseSilent()))
    socket.setTimeout(CONNECT_MS)
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares it with a promise and with a callback
  override connect(callback?: any): any {
    if (!callback)
      return new Promise((resolve, reject) => this.connect((error?: Error) => (error ? reject(error) : resolve(this))))
    super.connect((error: Error | undefined, ...more: unknown[]) => {
      if (!error) this.#setUp()
      callback(error, ...more)
    })
    if (isSilent(this.#url) && !this.#isProbe) this.cutOff()
  }

  #setUp(): void {
    this.limitSilence()
    // If the connection is lost here, the statement that it was opened for fails.
    this.query(SET_UP).catch(() => {})
  }

  /** Closes the connection if no data has moved on it for the time that a statement may take. */
  limitSilence(): void {
    this.#socket.setTimeout(SILENCE_MS)
  }

  /** Lifts the limit for a transaction that may take long. */
  liftSilenceLimit(): void {
    this.#socket.setTimeout(0)
  }

  /** Fails all statements that wait for an answer. */
  cutOff(): void {
    this.#socket.destroy(new DatabaseSilent())
  }
}
