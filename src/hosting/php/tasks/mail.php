<?php
// Passes mails of the site to the host (../../site-mail/). Loaded with the first mail of a request (see prepend.php).
// The checks here serve the site only. The host does not trust them.

/**
 * Hands a mail over, in pieces.
 * @param array{to?: string, subject?: string, headers: string, recipients?: list<string>, sender?: string} $envelope
 * @return bool whether the host has stored it on disk
 */
function stead_hand_over_mail(array $envelope, string $body): bool
{
    if (!function_exists('post_message_to_js')) {
        return stead_mail_refused('there is no way to the host');
    }
    // Mails may contain bytes of any encoding, which JSON does not allow.
    $encode = static fn ($value) => is_array($value) ? array_map('base64_encode', $value) : base64_encode($value);
    // Several requests of a site may send mails at the same time.
    $key = bin2hex(random_bytes(8));
    $ask = ['ask' => 'mail', 'key' => $key, 'bytes' => strlen($body)] + array_map($encode, $envelope);
    // A message to the host is limited to 256 KiB.
    $length = 98304;
    $at = 0;
    do {
        $ask['data'] = base64_encode(substr($body, $at, $length));
        $at += $length;
        $ask['last'] = $at >= strlen($body);
        $json = json_encode($ask);
        if (strlen($json) > 262144) {
            return stead_mail_refused('the headers are too long');
        }
        $answer = json_decode((string) post_message_to_js($json), true);
        if (empty($answer['ok'])) {
            return stead_mail_refused($answer['why'] ?? 'this PHP has no host that sends mails', $answer['say'] ?? true);
        }
        $ask = ['ask' => 'mail-data', 'key' => $key];
    } while ($at < strlen($body));
    return true;
}

function stead_mail_refused(string $why, bool $say = true): bool
{
    if ($say) {
        error_log("mail(): the mail was not sent: $why");
    }
    return false;
}

/** Returns the headers as PHP's mail() takes them: as text, or as an array by name. */
function stead_mail_headers($headers): string
{
    if (!is_array($headers)) {
        return (string) $headers;
    }
    $lines = '';
    foreach ($headers as $name => $values) {
        foreach ((array) $values as $value) {
            $lines .= "$name: $value\r\n";
        }
    }
    return $lines;
}

/** Returns the address in sendmail's `-f`, if there is one. */
function stead_mail_sender(string $params): array
{
    return preg_match('/(?:^|\s)-f\s*[\'"]?<?([^\s\'"<>]+)/', $params, $match) ? ['sender' => $match[1]] : [];
}

/** Collects what is written to `sendmail` through a pipe. Plugins may set this up, such as PHPMailer's isSendmail(). */
final class Stead_Sendmail
{
    /** @var array<int, self> by the number of the pipe's resource */
    private static array $open = [];

    private function __construct(private string $options)
    {
    }

    /** @return resource|false false for any program other than sendmail */
    public static function open(string $command, string $mode)
    {
        $words = preg_split('/\s+/', trim($command), 2);
        if (!preg_match('~(?:^|/)(?:sendmail|qmail-inject|msmtp)$~', trim($words[0], '\'"')) || !str_starts_with($mode, 'w')) {
            trigger_error('popen(): no program can be started here but sendmail, to send a mail', E_USER_WARNING);
            return false;
        }
        $pipe = fopen('php://temp', 'w+');
        self::$open[(int) $pipe] = new self($words[1] ?? '');
        return $pipe;
    }

    /** @return int the exit code of the program */
    public static function close($pipe): int
    {
        $sendmail = self::$open[(int) $pipe] ?? null;
        if (!$sendmail) {
            return -1;
        }
        unset(self::$open[(int) $pipe]);
        rewind($pipe);
        $mail = (string) stream_get_contents($pipe);
        fclose($pipe);
        return $sendmail->send($mail) ? 0 : 75; // EX_TEMPFAIL
    }

    private function send(string $mail): bool
    {
        [$headers, $body] = preg_split('/\r?\n\r?\n/', $mail, 2) + ['', ''];
        $envelope = ['headers' => $headers] + stead_mail_sender($this->options);
        if (!preg_match('/(?:^|\s)-t\b/', $this->options)) {
            // Options that take a separate word are not among those that programs use.
            $words = preg_split('/\s+/', $this->options, -1, PREG_SPLIT_NO_EMPTY);
            $named = array_values(array_filter($words, static fn ($word) => $word[0] !== '-' && str_contains($word, '@')));
            if ($named) {
                $envelope['recipients'] = array_map(static fn ($word) => trim($word, '\'"<>'), $named);
            }
        }
        return stead_hand_over_mail($envelope, $body);
    }
}
