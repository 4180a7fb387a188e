import { localDomainOf } from '../../certificates/local-domain.ts'
import { smtpOptions } from '../../platform/mail/mailer.ts'
import { dkimKey } from '../host/mail.ts'
import { type Check, type Finding, ok, problem, problemOf, warning } from './check.ts'

const PATIENCE_MS = 10_000

export const mailCheck: Check = {
  area: 'mail',
  async run({ config, asksOutside }) {
    const { smtpUrl } = config
    const unsigned = await dkimKey(config).then(
      () => [],
      (error) => [problemOf(error)],
    )
    if (smtpUrl !== undefined) return asksOutside ? [...unsigned, await server(smtpUrl)] : unsigned
    const text = 'Stead writes mails to the outbox folder of the data folder and sends none.'
    const isTrial = localDomainOf({ localAuthority: 'auto', stagingDomain: config.stagingDomain }) !== undefined
    return [...unsigned, isTrial ? ok(text) : warning(text, 'Set a mail server with STEAD_SMTP_URL.')]
  },
}

/** Connects and logs in, and sends nothing. */
async function server(smtpUrl: string): Promise<Finding> {
  const { createTransport } = await import('nodemailer')
  const { host } = new URL(smtpUrl)
  const limits = { connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS }
  const transport = createTransport({ ...smtpOptions(smtpUrl), ...limits })
  try {
    await transport.verify()
    return ok(`The mail server ${host} responds.`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const text = `The mail server ${host} accepts no mail: ${message}.`
    return problem(text, code === 'EAUTH' ? 'Correct the user and password in STEAD_SMTP_URL.' : 'See STEAD_SMTP_URL.')
  } finally {
    transport.close()
  }
}
