<?php
// usage: ECF_API=… ECF_KEY=… php issue.php < invoice.json
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['X-API-Key: ' . getenv('ECF_KEY'), 'Content-Type: application/json'],
    'content' => file_get_contents('php://stdin'),
    'timeout' => 30,
    'ignore_errors' => true,
]]);
$answer = file_get_contents(getenv('ECF_API') . '/api/v1/ecf', false, $context);
if ($answer === false || !preg_match('/ 20[01] /', $http_response_header[0] . ' ')) {
    fwrite(STDERR, ($http_response_header[0] ?? 'no answer') . ": $answer\n");
    exit(1);
}
echo $answer, "\n";
